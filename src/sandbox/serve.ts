import type { AddressInfo } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import type { ExchangeService } from "./protocol/exchange.ts";

/** Base URLs by venue and service name, for example `urls.kalshi.rest`. */
export type ServiceUrls = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Listens for all services on loopback: one port per listener, from `firstPort` upwards in the given order, or free
 * ports when `firstPort` is 0.
 */
export async function serveExchanges(
  services: readonly ExchangeService[],
  options: { readonly host: string; readonly firstPort: number },
): Promise<{ urls: ServiceUrls; close(): Promise<void> }> {
  const apps = new Map<string, FastifyInstance>();
  for (const service of services) {
    // The venues' servers answer HEAD wherever they answer GET, and do not mind a slash at the end.
    const manners = { exposeHeadRoutes: true, routerOptions: { ignoreTrailingSlash: true } };
    const app = apps.get(service.listener) ?? Fastify({ forceCloseConnections: true, ...manners });
    apps.set(service.listener, app);
    service.install(app);
  }
  const ports = new Map<string, number>();
  let next = options.firstPort;
  for (const [listener, app] of apps) {
    await app.listen({ host: options.host, port: next });
    ports.set(listener, (app.server.address() as AddressInfo).port);
    if (next !== 0) next += 1;
  }
  const urls: Record<string, Record<string, string>> = {};
  for (const service of services) {
    const venue = urls[service.venue] ?? {};
    urls[service.venue] = venue;
    venue[service.name] = `${service.scheme}://${options.host}:${ports.get(service.listener)}${service.basePath}`;
  }
  return {
    urls,
    async close() {
      await Promise.all([...apps.values()].map((app) => app.close()));
    },
  };
}
