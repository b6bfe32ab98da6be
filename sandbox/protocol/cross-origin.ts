import type { FastifyInstance } from "fastify";

const PREFLIGHT_MAX_AGE_S = 86_400;

/** Allows cross-origin requests from any site and responds to preflight requests. */
export function allowCrossOriginRequests(app: FastifyInstance): void {
  app.addHook("onRequest", async (request, reply) => {
    reply.header("access-control-allow-origin", "*");
    if (request.method !== "OPTIONS") return;
    return reply
      .code(204)
      .header("access-control-allow-methods", "GET, HEAD, POST, OPTIONS")
      .header("access-control-allow-headers", request.headers["access-control-request-headers"] ?? "*")
      .header("access-control-max-age", String(PREFLIGHT_MAX_AGE_S))
      .send();
  });
}
