import { createWebhookHttp } from "../adapters/network/webhook-http.ts";
import { createCheckWebhookUrl } from "../adapters/network/webhook-url.ts";
import { loadSecretKey } from "../adapters/system/secret-key-file.ts";
import { createSecretSeal } from "../adapters/system/secret-seal.ts";
import { systemClock } from "../adapters/system/system-clock.ts";
import { systemRandom } from "../adapters/system/system-random.ts";
import type { AppPorts } from "../app.ts";
import type { Config } from "../config/config.ts";
import type { Closers } from "./build-service-app.ts";

/**
 * Opens the connector of webhooks and the seal of their secrets. Only a sandbox that other machines cannot reach may send
 * webhooks to its own machine.
 */
export async function openWebhookPorts(
  { mode, sandbox, secretKeys, dataDir }: Config,
  closers: Closers,
): Promise<Pick<AppPorts, "webhookOut" | "secretSeal" | "checkWebhookUrl">> {
  const allowsLoopback = mode === "sandbox" && !sandbox.isPublic;
  const webhookOut = createWebhookHttp(systemClock, { allowsLoopback });
  closers.push(() => webhookOut.close());
  const keys = secretKeys.length > 0 ? secretKeys : [await loadSecretKey(dataDir, systemRandom)];
  return {
    webhookOut,
    secretSeal: createSecretSeal(keys, systemRandom),
    checkWebhookUrl: createCheckWebhookUrl({ allowsLoopback }),
  };
}
