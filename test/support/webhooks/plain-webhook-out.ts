import { Agent, request } from "node:http";
import type { WebhookAnswer, WebhookOut } from "../../../src/ports/webhook-out.ts";

/** Sends webhooks to receivers on loopback, without checks of the address. */
export function createPlainWebhookOut(options: { readonly deadlineMs?: number } = {}): WebhookOut {
  const agent = new Agent({ keepAlive: true });
  return {
    post: ({ url, headers, body, deadlineMs }) =>
      new Promise<WebhookAnswer>((resolve) => {
        const outgoing = request(url, {
          method: "POST",
          agent,
          headers: { ...headers, "content-length": Buffer.byteLength(body) },
          signal: AbortSignal.timeout(options.deadlineMs ?? deadlineMs),
        });
        outgoing.once("error", () => resolve({ kind: "failed", failure: "connection_failed" }));
        outgoing.once("response", (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.once("error", () => resolve({ kind: "failed", failure: "connection_failed" }));
          response.once("end", () => {
            const seconds = Number(response.headers["retry-after"]);
            const retryAt = Number.isFinite(seconds) ? Date.now() + seconds * 1_000 : null;
            const bodyHead = Buffer.concat(chunks).toString().slice(0, 1_024);
            resolve({ kind: "answered", status: response.statusCode ?? 0, retryAt, bodyHead });
          });
        });
        outgoing.end(body);
      }),
    close: async () => agent.destroy(),
  };
}
