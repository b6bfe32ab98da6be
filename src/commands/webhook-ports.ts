import type { AppPorts } from "../app.ts";
import { SecretSealError } from "../ports/secret-seal.ts";

/** Opens the connector of webhooks and the seal of their secrets. Without them, no webhook can be registered. */
export const openWebhookPorts = (): Pick<AppPorts, "webhookOut" | "secretSeal" | "checkWebhookUrl"> => ({
  webhookOut: { post: async () => ({ kind: "failed", failure: "connection_failed" }), close: async () => {} },
  secretSeal: {
    seal: () => {
      throw new SecretSealError("There is no key for secrets");
    },
    open: () => {
      throw new SecretSealError("There is no key for secrets");
    },
  },
  checkWebhookUrl: () => ({ kind: "invalid", problem: "this service sends no webhooks" }),
});
