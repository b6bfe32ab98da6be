import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { AppError } from "../../domain/errors.ts";
import { METERING } from "../../domain/metering.ts";
import type { Metrics } from "./metrics.ts";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/**
 * GET /metrics. Not part of the public API, so it is hidden from the OpenAPI description.
 *
 * @param options.token  required as `Authorization: Bearer`; null allows every request
 */
export function metricsRoutes(
  app: FastifyInstance,
  options: { readonly metrics: Metrics; readonly token: string | null },
): void {
  const { metrics, token } = options;
  const expected = token === null ? null : digest(`Bearer ${token}`);
  app.get(
    "/metrics",
    { config: { access: "public", metering: METERING.FREE, cacheControl: "no-store" }, schema: { hide: true } },
    async (request, reply) => {
      const sent = digest(request.headers.authorization ?? "");
      if (expected !== null && !timingSafeEqual(sent, expected))
        throw new AppError("unauthorized", "Send the metrics token as Authorization: Bearer");
      return reply.type(metrics.contentType).send(await metrics.text());
    },
  );
}
