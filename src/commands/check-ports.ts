import { once } from "node:events";
import { createServer } from "node:net";
import type { Config } from "../config/config.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import { describeListenError, StartupError } from "./startup-errors.ts";

/**
 * Checks that the service can listen on its ports, before it opens the store. Another process may still take a port
 * before the service listens on it.
 *
 * @throws StartupError that names the port and its setting
 */
export async function assertPortsFree(config: Pick<Config, "host" | "port" | "metrics">): Promise<void> {
  await assertPortFree({ host: config.host, port: config.port }, "PARALLAX_PORT");
  await assertPortFree({ host: metricsHost(config), port: config.metrics?.port ?? 0 }, "PARALLAX_METRICS_PORT");
}

const LOOPBACK = "127.0.0.1";

/** Metrics without a token are served on loopback only. */
export function metricsHost({ host, metrics }: Pick<Config, "host" | "metrics">): string {
  return metrics?.token == null && !isLoopbackHost(host) ? LOOPBACK : host;
}

async function assertPortFree(address: { readonly host: string; readonly port: number }, portSetting: string) {
  if (address.port === 0) return;
  const server = createServer();
  try {
    server.listen(address);
    await once(server, "listening");
  } catch (error) {
    throw new StartupError(describeListenError(address, error, portSetting));
  }
  server.close();
  await once(server, "close");
}
