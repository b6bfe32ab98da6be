import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { sendPreserialised } from "./preserialised.ts";

/** A JSON body of up to this size is sent at once. Payments store responses of this size. */
const WHOLE_BYTES_MAX = 256 * 1024;
/** A body above this size is written in slices, so that only one of them waits for a slow client. */
const SLICED_FROM_BYTES = 1024 * 1024;
const SLICE_BYTES = 64 * 1024;

/** The bodies that `sendJsonPieces` sends in pieces. */
const bodiesInPieces = new WeakSet<object>();

/** Whether a payload was sent with `sendJsonPieces` and is too large to be sent at once. */
export const isInPieces = (payload: unknown): payload is Readable =>
  typeof payload === "object" && payload !== null && bodiesInPieces.has(payload);

/**
 * Sends JSON that is produced in pieces. A body above 256 KiB is written in pieces, each of which is produced when the
 * client has read the pieces before it; such a response has neither an entity tag nor a length. A smaller body is sent
 * as by `sendPreserialised`.
 *
 * @param pieces  parts of the JSON text of at most a few hundred kilobytes each
 */
export async function sendJsonPieces(reply: FastifyReply, pieces: AsyncIterable<string>): Promise<FastifyReply> {
  const iterator = pieces[Symbol.asyncIterator]();
  const first: Buffer[] = [];
  let size = 0;
  while (size <= WHOLE_BYTES_MAX) {
    const { done, value } = await iterator.next();
    if (done === true) return sendPreserialised(reply, Buffer.concat(first));
    const bytes = Buffer.from(value);
    first.push(bytes);
    size += bytes.length;
  }
  const body = Readable.from(continueFrom(first, iterator), { objectMode: false });
  bodiesInPieces.add(body);
  return reply.header("content-type", "application/json; charset=utf-8").send(body);
}

/** Removes and yields the pieces in `first`, then yields those of the iterator. If ended early, ends the iterator. */
async function* continueFrom(first: Buffer[], iterator: AsyncIterator<string>): AsyncGenerator<Buffer> {
  try {
    for (let bytes = first.shift(); bytes !== undefined; bytes = first.shift()) yield bytes;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
      yield Buffer.from(next.value);
  } finally {
    await iterator.return?.();
  }
}

/**
 * Returns a body above 1 MiB as a stream of its slices, after it has set the length, and a smaller one unchanged. The
 * slices share the memory of a buffer.
 */
export function sliceIfLarge(reply: FastifyReply, body: string | Buffer): string | Buffer | Readable {
  if (body.length <= SLICED_FROM_BYTES || reply.request.method === "HEAD") return body;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  reply.header("content-length", bytes.length);
  return Readable.from(slice(bytes), { objectMode: false });
}

function* slice(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) yield bytes.subarray(start, start + SLICE_BYTES);
}
