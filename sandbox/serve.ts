import type { AddressInfo } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import { type HttpFaultOptions, installHttpFaults } from "./faults/http-faults.ts";
import type { VenueFaults } from "./faults/venue-faults.ts";
import { installCompression } from "./protocol/compression.ts";
import type { ExchangeService } from "./protocol/exchange.ts";

/** Base URLs by venue and service name, for example `urls.kalshi.rest`. */
export type ServiceUrls = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Starts one HTTP server per listener and installs the services on them. The servers use consecutive ports from
 * `firstPort` in the given order, or free ports if `firstPort` is 0.
 */
export async function serveExchanges(
  services: readonly ExchangeService[],
  options: {
    readonly host: string;
    readonly firstPort: number;
    /** Fault switches by venue. A venue without an entry has no faults. */
    readonly faults?: HttpFaultOptions & { readonly byVenue: Readonly<Record<string, VenueFaults>> };
  },
): Promise<{ urls: ServiceUrls; close(): Promise<void> }> {
  const apps = new Map<string, FastifyInstance>();
  for (const service of services) {
    const { venue, listener = venue } = service;
    let app = apps.get(listener);
    if (app === undefined) {
      // The venues accept HEAD requests and a trailing slash on every GET path.
      app = Fastify({
        forceCloseConnections: true,
        exposeHeadRoutes: true,
        routerOptions: { ignoreTrailingSlash: true },
      });
      apps.set(listener, app);
      const faults = options.faults?.byVenue[venue];
      if (options.faults !== undefined && faults !== undefined) installHttpFaults(app, faults, options.faults);
      // Compression is installed after the faults, which change the text of responses.
      installCompression(app);
    }
    service.install(app);
  }
  const ports = new Map<string, number>();
  let port = options.firstPort;
  for (const [listener, app] of apps) {
    await app.listen({ host: options.host, port });
    ports.set(listener, (app.server.address() as AddressInfo).port);
    if (port !== 0) port += 1;
  }
  const urls: Record<string, Record<string, string>> = {};
  for (const { venue, name, basePath = "", listener = venue } of services) {
    const scheme = name === "ws" ? "ws" : "http";
    urls[venue] = { ...urls[venue], [name]: `${scheme}://${options.host}:${ports.get(listener)}${basePath}` };
  }
  return {
    urls,
    async close() {
      await Promise.all([...apps.values()].map((app) => app.close()));
    },
  };
}
