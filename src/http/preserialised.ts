import type { FastifyReply } from "fastify";

/**
 * Sends JSON bytes that were serialised before, as they are. The bytes must not change afterwards.
 *
 * @param entityTag  the body's entity tag where it is known already (`weakEntityTag`), which saves hashing it
 */
export function sendPreserialised(reply: FastifyReply, json: Buffer, entityTag?: string): FastifyReply {
  if (entityTag !== undefined) reply.header("etag", entityTag);
  return reply.header("content-type", "application/json; charset=utf-8").send(json);
}
