import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export const TURNSTILE_SECRET = "0x4AAAAAAA_stand_in_secret_of_a_site";

interface Verdict {
  readonly success: boolean;
  readonly "error-codes": readonly string[];
  readonly hostname?: string;
  readonly action?: string;
}

/** What the next answers are instead of a verdict; `hang` never answers, `lost` counts the token and then cuts the line. */
type Trouble = "500" | "html" | "hang" | "lost" | "internal-error" | "not-json" | "endless";

/** A server that speaks Turnstile's siteverify, with single use and idempotency, as documented. */
export interface TurnstileServer {
  readonly url: string;
  /** Every request's body, as it came. */
  readonly requests: Readonly<Record<string, unknown>>[];
  /** A token as the widget would give it. */
  issue(claims?: { readonly hostname?: string; readonly action?: string }): string;
  /** The next so many answers are troubled. */
  trouble(kind: Trouble, times?: number): void;
  close(): Promise<void>;
}

export async function startTurnstileServer(): Promise<TurnstileServer> {
  const tokens = new Map<string, { hostname: string; action: string; spentBy: string | null }>();
  const requests: Record<string, unknown>[] = [];
  const troubles: Trouble[] = [];
  let issued = 0;

  const verdictOn = (body: Record<string, unknown>): Verdict => {
    const refuse = (code: string): Verdict => ({ success: false, "error-codes": [code] });
    if (body.secret !== TURNSTILE_SECRET) return refuse("invalid-input-secret");
    if (typeof body.response !== "string" || body.response === "") return refuse("missing-input-response");
    const token = tokens.get(body.response);
    if (token === undefined) return refuse("invalid-input-response");
    const key = String(body.idempotency_key ?? Symbol("none").toString());
    if (token.spentBy !== null && token.spentBy !== key) return refuse("timeout-or-duplicate");
    token.spentBy = key;
    return { success: true, "error-codes": [], hostname: token.hostname, action: token.action };
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>;
      requests.push(body);
      const trouble = troubles.shift();
      if (trouble === "hang") return;
      const verdict = trouble === "internal-error" ? { success: false, "error-codes": ["internal-error"] } : null;
      if (trouble === "lost") {
        verdictOn(body);
        request.socket.destroy();
      } else if (trouble === "endless") {
        response.writeHead(200, { "content-type": "application/json" });
        response.end("x".repeat(1_000_000));
      } else if (trouble === "500" || trouble === "html" || trouble === "not-json") {
        response.writeHead(trouble === "500" ? 500 : 200, { "content-type": "text/html" });
        response.end(trouble === "not-json" ? '{"success"' : "<html>Attention required</html>");
      } else {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify(verdict ?? verdictOn(body)));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/turnstile/v0/siteverify`,
    requests,
    issue({ hostname = "parallax.example", action = "signup" } = {}) {
      issued += 1;
      const token = `0.stand-in-token-${issued}`;
      tokens.set(token, { hostname, action, spentBy: null });
      return token;
    },
    trouble(kind, times = 1) {
      for (let turn = 0; turn < times; turn++) troubles.push(kind);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
