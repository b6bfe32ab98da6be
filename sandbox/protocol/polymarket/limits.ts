import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Now } from "../exchange.ts";

/**
 * Limits in requests per ten seconds: one for the host and one for each path rule. A request counts against every
 * matching rule.
 */
interface RequestLimitRules {
  readonly total: number;
  readonly paths: readonly {
    readonly name: string;
    readonly matches: (path: string) => boolean;
    readonly limit: number;
  }[];
}

const WINDOW_MS = 10_000;
const CLIENTS_MAX = 10_000;

interface Window {
  startedAt: number;
  readonly counts: Map<string, number>;
}

/** Limits requests per client (IP address and User-Agent) in ten-second windows; rejects with 429 and Retry-After. */
export function enforceRequestLimits(app: FastifyInstance, rules: RequestLimitRules, now: Now): void {
  const windows = new Map<string, Window>();
  const windowOf = (client: string, at: number): Window => {
    const current = windows.get(client);
    if (current !== undefined && at >= current.startedAt && at - current.startedAt < WINDOW_MS) return current;
    if (windows.size >= CLIENTS_MAX) windows.clear();
    const window = { startedAt: at, counts: new Map<string, number>() };
    windows.set(client, window);
    return window;
  };
  app.addHook("onRequest", async (request: FastifyRequest, reply: FastifyReply) => {
    const at = now();
    const window = windowOf(`${request.ip} ${request.headers["user-agent"] ?? ""}`, at);
    const path = request.url.split("?", 1)[0] ?? "";
    const matchingRules = rules.paths.filter((rule) => rule.matches(path));
    for (const { name, limit } of [{ name: "total", limit: rules.total }, ...matchingRules]) {
      const count = (window.counts.get(name) ?? 0) + 1;
      window.counts.set(name, count);
      if (count > limit) {
        const waitSeconds = Math.max(1, Math.ceil((window.startedAt + WINDOW_MS - at) / 1000));
        return reply.code(429).header("retry-after", String(waitSeconds)).send({ error: "Too Many Requests" });
      }
    }
  });
}
