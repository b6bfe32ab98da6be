import type { AppPorts } from "../../../src/app/index.ts";
import { SecretSealError } from "../../../src/ports/secret-box.ts";
import type { RequestTiming, WebhookAnswer, WebhookAttempt, WebhookRequest } from "../../../src/ports/webhook-out.ts";

/** Seals by a prefix, so that a test can see whose secret it is. */
export const fakeSeal: AppPorts["secretBox"] = {
  seal: (secret, owner) => Buffer.from(`${owner}:${secret}`).toString("base64"),
  open(sealed, owner) {
    const text = Buffer.from(sealed, "base64").toString();
    if (!text.startsWith(`${owner}:`)) throw new SecretSealError("sealed for another owner");
    return text.slice(owner.length + 1);
  },
};

/** Accepts https URLs. Requests are answered by `answer`, by default with 200. */
export function fakeWebhookPorts(
  answer: (request: WebhookRequest) => WebhookAnswer | Promise<WebhookAnswer> = () => ok(),
): Pick<AppPorts, "webhookOut" | "secretBox" | "checkWebhookUrl"> {
  return {
    webhookOut: { post: async (request) => toAttempt(await answer(request)), close: async () => {} },
    secretBox: fakeSeal,
    checkWebhookUrl: (url) =>
      URL.parse(url)?.protocol === "https:"
        ? { kind: "valid", url }
        : { kind: "invalid", problem: "the URL must be https" },
  };
}

export const ok = (status = 200): WebhookAnswer => ({ kind: "answered", status, retryAt: null, bodyHead: "" });

/** Returns an attempt with this answer, of 0 ms by default. */
export const toAttempt = (
  answer: WebhookAnswer,
  timing: RequestTiming = { startedAt: 0, durationMs: 0 },
): WebhookAttempt => ({ answer, timing: answer.kind === "failed" && answer.failure === "unavailable" ? null : timing });
