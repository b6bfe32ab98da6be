import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export const TURNSTILE_SECRET = "0x4AAAAAAA_test_site_secret";

interface Verdict {
  readonly success: boolean;
  readonly "error-codes": readonly string[];
  readonly hostname?: string;
  readonly action?: string;
}

/** Failure modes: `timeout` never responds; `lost-response` consumes the token and then closes the connection. */
type Failure = "500" | "html" | "timeout" | "lost-response" | "internal-error" | "not-json" | "endless";

/** A test double of Turnstile's siteverify API, with single-use tokens and idempotency keys as documented. */
export interface TurnstileServer {
  readonly url: string;
  /** The bodies of all requests. */
  readonly requests: Readonly<Record<string, unknown>>[];
  /** Issues a token as the widget would. */
  issue(claims?: { readonly hostname?: string; readonly action?: string }): string;
  /** Makes the next `times` requests fail. */
  failNext(failure: Failure, times?: number): void;
  close(): Promise<void>;
}

export async function startTurnstileServer(): Promise<TurnstileServer> {
  const tokens = new Map<string, { hostname: string; action: string; usedBy: string | null }>();
  const requests: Record<string, unknown>[] = [];
  const failures: Failure[] = [];
  let issuedTokenCount = 0;

  const verifyToken = (body: Record<string, unknown>): Verdict => {
    const createRefusal = (code: string): Verdict => ({ success: false, "error-codes": [code] });
    if (body.secret !== TURNSTILE_SECRET) return createRefusal("invalid-input-secret");
    if (typeof body.response !== "string" || body.response === "") return createRefusal("missing-input-response");
    const token = tokens.get(body.response);
    if (token === undefined) return createRefusal("invalid-input-response");
    const key = String(body.idempotency_key ?? Symbol("none").toString());
    if (token.usedBy !== null && token.usedBy !== key) return createRefusal("timeout-or-duplicate");
    token.usedBy = key;
    return { success: true, "error-codes": [], hostname: token.hostname, action: token.action };
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>;
      requests.push(body);
      const failure = failures.shift();
      if (failure === "timeout") return;
      const verdict = failure === "internal-error" ? { success: false, "error-codes": ["internal-error"] } : null;
      if (failure === "lost-response") {
        verifyToken(body);
        request.socket.destroy();
      } else if (failure === "endless") {
        response.writeHead(200, { "content-type": "application/json" });
        response.end("x".repeat(1_000_000));
      } else if (failure === "500" || failure === "html" || failure === "not-json") {
        response.writeHead(failure === "500" ? 500 : 200, { "content-type": "text/html" });
        response.end(failure === "not-json" ? '{"success"' : "<html>Attention required</html>");
      } else {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify(verdict ?? verifyToken(body)));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/turnstile/v0/siteverify`,
    requests,
    issue({ hostname = "parallax.example", action = "signup" } = {}) {
      issuedTokenCount += 1;
      const token = `0.test-token-${issuedTokenCount}`;
      tokens.set(token, { hostname, action, usedBy: null });
      return token;
    },
    failNext(failure, times = 1) {
      for (let i = 0; i < times; i++) failures.push(failure);
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
