import { isAscii } from "node:buffer";
import type { FastifyReply } from "fastify";
import { weakEntityTag } from "./conditional.ts";

/** Longer texts cost more to encode again than the second piece of an answer costs to send. */
const TEXT_BYTES_MAX = 4 * 1024;

/** Bytes that are sent again and again, as a market's are until it changes, are hashed and read once. */
const known = new WeakMap<Buffer, { readonly entityTag: string; readonly payload: string | Buffer }>();

/**
 * Sends JSON bytes that were serialised before, as they are. The bytes must not change afterwards.
 *
 * @param entityTag  the body's entity tag where it is known already (`weakEntityTag`), which saves hashing it
 */
export function sendPreserialised(reply: FastifyReply, json: Buffer, entityTag?: string): FastifyReply {
  const sent = entityTag === undefined ? readyToSend(json) : { entityTag, payload: json };
  reply.header("etag", sent.entityTag);
  return reply.header("content-type", "application/json; charset=utf-8").send(sent.payload);
}

function readyToSend(json: Buffer) {
  let ready = known.get(json);
  if (ready === undefined) {
    ready = { entityTag: weakEntityTag(json), payload: payloadOf(json) };
    known.set(json, ready);
  }
  return ready;
}

/** Node writes head and body of an answer in one piece where the body is a text, in two where it is bytes. */
function payloadOf(json: Buffer): string | Buffer {
  return json.length <= TEXT_BYTES_MAX && isAscii(json) ? json.toString("latin1") : json;
}
