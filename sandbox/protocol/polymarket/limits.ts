import type { FastifyInstance } from "fastify";
import { VenueError } from "../errors.ts";
import type { Now } from "../exchange.ts";
import { anonymousClientOf, createClientStates } from "../rate-limits.ts";

/** Maximum requests per ten seconds. A request counts for its host and all matching path patterns. */
export interface RequestLimits {
  readonly host: number;
  readonly paths: readonly (readonly [pattern: RegExp, limit: number])[];
}

const WINDOW_MS = 10_000;

/** Limits the requests of each client in ten-second windows; rejects with 429 and Retry-After. */
export function enforceRequestLimits(app: FastifyInstance, { host, paths }: RequestLimits, now: Now): void {
  const limits = [[/^/, host] as const, ...paths];
  const windowOf = createClientStates(() => ({ startedAt: now(), counts: limits.map(() => 0) }));
  app.addHook("onRequest", async (request, reply) => {
    const at = now();
    const window = windowOf(anonymousClientOf(request));
    if (at < window.startedAt || at - window.startedAt >= WINDOW_MS) {
      window.startedAt = at;
      window.counts.fill(0);
    }
    const path = request.url.split("?", 1)[0] ?? "";
    for (const [index, [pattern, limit]] of limits.entries()) {
      if (!pattern.test(path)) continue;
      const count = (window.counts[index] ?? 0) + 1;
      window.counts[index] = count;
      if (count <= limit) continue;
      const waitSeconds = Math.max(1, Math.ceil((window.startedAt + WINDOW_MS - at) / 1000));
      reply.header("retry-after", String(waitSeconds));
      throw new VenueError(429, "Too Many Requests");
    }
  });
}
