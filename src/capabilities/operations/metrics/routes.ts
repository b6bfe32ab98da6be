import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { AppError } from "../../../domain/errors.ts";
import { METERING } from "../../../domain/metering.ts";
import { createHttpServer, type HttpServerOptions } from "../../../http/server.ts";
import type { Metrics } from "./metrics.ts";

/** Maximum number of open connections of the separate metrics port. */
const CONNECTIONS_MAX = 64;

const hashText = (text: string): Buffer => createHash("sha256").update(text).digest();

/**
 * Defines GET /metrics. It is not part of the public API, so the OpenAPI description omits it.
 *
 * @param options.token  bearer token that requests must send; null allows every request
 */
export function metricsRoutes(
  app: FastifyInstance,
  options: { readonly metrics: Metrics; readonly token: string | null },
): void {
  const { metrics, token } = options;
  const expectedDigest = token === null ? null : hashText(`Bearer ${token}`);
  app.get(
    "/metrics",
    { config: { access: "public", metering: METERING.FREE, cacheControl: "no-store" }, schema: { hide: true } },
    async (request, reply) => {
      const sentDigest = hashText(request.headers.authorization ?? "");
      if (expectedDigest !== null && !timingSafeEqual(sentDigest, expectedDigest))
        throw new AppError("unauthorized", "Send the metrics token as Authorization: Bearer");
      return reply.type(metrics.contentType).send(await metrics.text());
    },
  );
}

/** Registers /metrics on a separate server if configured, else on the API server. Returns the separate server, or null. */
export async function openMetricsServer(
  http: FastifyInstance,
  ports: Pick<HttpServerOptions, "clock" | "log" | "random" | "data"> & {
    readonly metrics: { readonly hasOwnPort: boolean; readonly token: string | null } | null;
  },
  metrics: Metrics | null,
): Promise<FastifyInstance | null> {
  if (metrics === null || ports.metrics === null) return null;
  const { clock, log, random, data } = ports;
  const connections = { total: CONNECTIONS_MAX, perAddress: CONNECTIONS_MAX };
  const authentication = { authenticate: () => null };
  const { hasOwnPort, token } = ports.metrics;
  const metricsHttp = hasOwnPort
    ? await createHttpServer({ clock, log, random, data, connections, authentication })
    : null;
  metricsRoutes(metricsHttp ?? http, { metrics, token });
  return metricsHttp;
}
