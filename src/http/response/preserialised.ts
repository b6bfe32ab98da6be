import { isAscii } from "node:buffer";
import type { FastifyReply } from "fastify";
import { weakEntityTag } from "./conditional.ts";

/** Maximum size of bodies sent as strings. Encoding a longer string costs more than a second write. */
const STRING_BYTES_MAX = 4 * 1024;

/** Entity tag and payload of buffers that are sent repeatedly, such as an unchanged market. */
const preparedPayloads = new WeakMap<Buffer, { readonly entityTag: string; readonly payload: string | Buffer }>();

/**
 * Sends JSON bytes unchanged. The buffer must not be modified afterwards. The response of a POST has no entity tag,
 * because no client can revalidate it.
 *
 * @param entityTag  the body's entity tag (`weakEntityTag`), if already computed
 */
export function sendPreserialised(reply: FastifyReply, json: Buffer, entityTag?: string): FastifyReply {
  if (reply.request.method === "POST") return sendJson(reply, json);
  const { entityTag: tag, payload } = entityTag === undefined ? prepare(json) : { entityTag, payload: json };
  reply.header("etag", tag);
  return sendJson(reply, payload);
}

const sendJson = (reply: FastifyReply, payload: string | Buffer): FastifyReply =>
  reply.header("content-type", "application/json; charset=utf-8").send(payload);

function prepare(json: Buffer) {
  let prepared = preparedPayloads.get(json);
  if (prepared === undefined) {
    prepared = { entityTag: weakEntityTag(json), payload: payloadOf(json) };
    preparedPayloads.set(json, prepared);
  }
  return prepared;
}

/** Node writes head and body with one system call if the body is a string, and with two if it is a buffer. */
function payloadOf(json: Buffer): string | Buffer {
  return json.length <= STRING_BYTES_MAX && isAscii(json) ? json.toString("latin1") : json;
}
