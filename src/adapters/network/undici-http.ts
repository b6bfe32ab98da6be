import { addAbortSignal, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { request } from "undici";
import { VenueError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import { CONNECTIONS_PER_HOST_MAX, type HttpOut, type IncomingResponse } from "../../ports/http-out.ts";
import { createLimitedAgent, ResponseLimitError } from "./response-limits.ts";

const USER_AGENT = "parallax/1.0";
/** Size of the buffers that a decoder fills. Larger than Node's default of 16 KiB, because pages have megabytes. */
const DECODED_CHUNK_BYTES = 128 * 1024;

/** Factories of the decoders, by supported value of Content-Encoding. They decode outside the event loop. */
const DECODERS = new Map([
  ["gzip", () => createGunzip({ chunkSize: DECODED_CHUNK_BYTES })],
  ["br", () => createBrotliDecompress({ chunkSize: DECODED_CHUNK_BYTES })],
]);
const ACCEPT_ENCODING = [...DECODERS.keys()].join(", ");

/**
 * Creates an HTTP client with a keep-alive pool per host. It does not follow redirects, accepts compressed responses,
 * and limits the size and time of each response.
 */
export function createUndiciHttp(clock: Clock): HttpOut & { close(): Promise<void> } {
  const agent = createLimitedAgent({ connections: CONNECTIONS_PER_HOST_MAX });
  return {
    async send(outgoing): Promise<IncomingResponse> {
      const deadline = AbortSignal.timeout(outgoing.deadlineMs);
      const signal = outgoing.signal === undefined ? deadline : AbortSignal.any([deadline, outgoing.signal]);
      const received: ByteCount = { bytes: 0 };
      const decoded: ByteCount = { bytes: 0 };
      try {
        const response = await request(outgoing.url, {
          dispatcher: agent.dispatcher,
          method: outgoing.method,
          headers: { "user-agent": USER_AGENT, "accept-encoding": ACCEPT_ENCODING, ...outgoing.headers },
          body: outgoing.body ?? null,
          signal,
        });
        const receivedAt = clock.now();
        const headers: Record<string, string> = {};
        for (const [name, value] of Object.entries(response.headers)) {
          if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
        }
        const encoded = await readAll(response.body, outgoing.maxBodyBytes, received);
        const decoder = createDecoder(headers["content-encoding"], encoded, signal);
        const body = decoder === null ? encoded : await readDecoded(decoder, outgoing.maxBodyBytes, decoded);
        decoded.bytes = body.length;
        // Responses often arrive together and take long to parse, so other events are processed between them.
        await clock.yieldToEventLoop();
        return { status: response.statusCode, headers, body: body.toString("utf8"), receivedAt };
      } catch (cause) {
        const host = new URL(outgoing.url).host;
        if (deadline.aborted)
          throw new VenueError("timeout", `${host} did not respond within ${outgoing.deadlineMs} ms`, {
            retryable: true,
            cause,
          });
        if (cause instanceof VenueError && outgoing.signal?.aborted !== true) throw cause;
        if (cause instanceof ResponseLimitError)
          throw new VenueError("bad_body", `${host} sent a response that takes too long to read`, {
            retryable: true,
            cause,
          });
        throw new VenueError("network", `${host} could not be reached`, {
          retryable: outgoing.signal?.aborted !== true,
          cause,
        });
      } finally {
        outgoing.countBytes?.(received.bytes, decoded.bytes);
      }
    },
    // Aborts pending requests, so that an unresponsive host does not delay the shutdown.
    close: () => agent.close(),
  };
}

interface ByteCount {
  bytes: number;
}

/**
 * Reads a stream to its end and counts the bytes.
 * @throws VenueError (bad_body) after more than `bytesMax`; the stream is then destroyed
 */
async function readAll(stream: Readable, bytesMax: number, count: ByteCount): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // Leaving the loop with an error destroys the stream.
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    count.bytes += chunk.length;
    if (count.bytes > bytesMax) throw new VenueError("bad_body", `body over ${bytesMax} bytes`, { retryable: false });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Returns a stream of the decoded body, or null if the body is not encoded. The signal destroys the stream.
 * @throws VenueError (bad_body) for an encoding that was not requested, or several encodings
 */
function createDecoder(contentEncoding: string | undefined, body: Buffer, signal: AbortSignal): Readable | null {
  const encoding = contentEncoding?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity" || body.length === 0) return null;
  const create = DECODERS.get(encoding);
  if (create === undefined) throw new VenueError("bad_body", "unknown content encoding", { retryable: true });
  const decoder = addAbortSignal(signal, create());
  decoder.end(body);
  return decoder;
}

/** @throws VenueError (bad_body) if the data is corrupt or incomplete, or after more than `bytesMax` decoded bytes */
async function readDecoded(decoder: Readable, bytesMax: number, count: ByteCount): Promise<Buffer> {
  try {
    return await readAll(decoder, bytesMax, count);
  } catch (cause) {
    if (cause instanceof VenueError) throw cause;
    throw new VenueError("bad_body", "the compressed body is corrupt or incomplete", { retryable: true, cause });
  }
}
