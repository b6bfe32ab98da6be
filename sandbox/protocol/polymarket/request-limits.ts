import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Now } from "../exchange.ts";

/** Requests per ten seconds: the host's total, and rules for single paths. A request counts in every rule that fits. */
export interface RequestLimitRules {
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

/** Counts per client (address and User-Agent) in windows of ten seconds; answers 429 with Retry-After above a limit. */
export function enforceRequestLimits(app: FastifyInstance, rules: RequestLimitRules, now: Now): void {
  const windows = new Map<string, Window>();
  const windowOf = (client: string, at: number): Window => {
    const known = windows.get(client);
    if (known !== undefined && at >= known.startedAt && at - known.startedAt < WINDOW_MS) return known;
    if (windows.size >= CLIENTS_MAX) windows.clear();
    const window = { startedAt: at, counts: new Map<string, number>() };
    windows.set(client, window);
    return window;
  };
  app.addHook("onRequest", async (request: FastifyRequest, reply: FastifyReply) => {
    const at = now();
    const window = windowOf(`${request.ip} ${request.headers["user-agent"] ?? ""}`, at);
    const path = request.url.split("?", 1)[0] ?? "";
    const fitting = rules.paths.filter((rule) => rule.matches(path));
    for (const { name, limit } of [{ name: "total", limit: rules.total }, ...fitting]) {
      const count = (window.counts.get(name) ?? 0) + 1;
      window.counts.set(name, count);
      if (count > limit) {
        const waitSeconds = Math.max(1, Math.ceil((window.startedAt + WINDOW_MS - at) / 1000));
        return reply.code(429).header("retry-after", String(waitSeconds)).send({ error: "Too Many Requests" });
      }
    }
  });
}
