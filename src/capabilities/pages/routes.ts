import type { FastifyInstance } from "fastify";
import { METERING } from "../../domain/metering.ts";
import { STYLE, STYLE_URL } from "./style.ts";

/** The file that every page's look comes from. */
export function pageRoutes(app: FastifyInstance): void {
  app.get(
    STYLE_URL,
    {
      config: { access: "public", metering: METERING.FREE, cacheControl: "public, max-age=31536000, immutable" },
      schema: { hide: true },
    },
    (_request, reply) => reply.type("text/css; charset=utf-8").send(STYLE),
  );
}
