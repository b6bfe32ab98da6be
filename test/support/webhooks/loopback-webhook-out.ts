import { createWebhookHttp } from "../../../src/adapters/network/webhook-http.ts";
import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import type { WebhookOut } from "../../../src/ports/webhook-out.ts";

/** All receivers of a test are one host. */
const LIMITS = { total: 512, perHost: 512, waiting: 4_096, waitingPerHost: 4_096 };
const HOST_RATE = 100_000;

/**
 * The connector of the service, which may send to this machine.
 *
 * @param options.deadlineMs  replaces that of each request
 * @param options.hostRate  requests per second to one host name; by default more than a test sends
 */
export function createLoopbackWebhookOut({
  hostRate = HOST_RATE,
  ...fields
}: {
  readonly deadlineMs?: number;
  readonly hostRate?: number;
} = {}): WebhookOut {
  const out = createWebhookHttp(systemClock, { allowsLoopback: true, hostRate, limits: LIMITS });
  return {
    post: (request) => out.post({ ...request, ...fields }),
    close: () => out.close(),
  };
}
