import type { FastifyReply } from "fastify";
import { weakEntityTag } from "./conditional.ts";

/** Bytes that are sent again and again, as a market's are until it changes, are hashed once. */
const entityTags = new WeakMap<Buffer, string>();

/**
 * Sends JSON bytes that were serialised before, as they are. The bytes must not change afterwards.
 *
 * @param entityTag  the body's entity tag where it is known already (`weakEntityTag`), which saves hashing it
 */
export function sendPreserialised(reply: FastifyReply, json: Buffer, entityTag?: string): FastifyReply {
  reply.header("etag", entityTag ?? entityTagOf(json));
  return reply.header("content-type", "application/json; charset=utf-8").send(json);
}

function entityTagOf(json: Buffer): string {
  let tag = entityTags.get(json);
  if (tag === undefined) {
    tag = weakEntityTag(json);
    entityTags.set(json, tag);
  }
  return tag;
}
