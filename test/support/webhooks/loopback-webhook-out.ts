import { createWebhookHttp } from "../../../src/adapters/network/webhook-http.ts";
import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import type { WebhookOut } from "../../../src/ports/webhook-out.ts";

/** All receivers of a test are one host. */
const LIMITS = { total: 512, perHost: 512, waiting: 4_096, waitingPerHost: 4_096 };

/** The connector of the service, which may send to this machine. @param options.deadlineMs  replaces that of each request */
export function createLoopbackWebhookOut(options: { readonly deadlineMs?: number } = {}): WebhookOut {
  const out = createWebhookHttp(systemClock, { allowsLoopback: true, limits: LIMITS });
  return {
    post: (request) => out.post({ ...request, ...options }),
    close: () => out.close(),
  };
}
