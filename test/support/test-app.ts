import type { FastifyInstance } from "fastify";
import Type from "typebox";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { METERING } from "../../src/domain/metering.ts";
import { PLAN_ALLOWANCES } from "../../src/domain/plan.ts";
import type { Principal } from "../../src/http/auth.ts";
import { createHttpServer, type HttpServerOptions } from "../../src/http/server.ts";
import type { Log, LogFields } from "../../src/ports/log.ts";
import { atFileEnd } from "./file-end.ts";

/** Creates a log that records its lines. */
export function recordingLog(): {
  readonly log: Log;
  readonly lines: (LogFields & { level: string; message: string })[];
} {
  const lines: (LogFields & { level: string; message: string })[] = [];
  const recordAt = (level: string) => (fields: LogFields, message: string) => {
    lines.push({ ...fields, level, message });
  };
  const log: Log = {
    debug: recordAt("debug"),
    info: recordAt("info"),
    warn: recordAt("warn"),
    error: recordAt("error"),
    child: () => log,
  };
  return { log, lines };
}

export const VALID_KEY = "plx_free_goodgoodgoodgoodgoodgoodgood";
export const CUSTOMER: Principal = {
  kind: "customer",
  customerId: "cus-1",
  plan: "free",
  allowance: PLAN_ALLOWANCES.free,
};

/** Route options for tests: a GET route that may return anything, without a key or with one. */
export const PUBLIC_ROUTE = {
  method: "GET",
  access: "public",
  metering: METERING.FREE,
  tag: "Markets",
  summary: "Test",
  responses: { 200: Type.Unknown() },
} as const;
export const KEY_ROUTE = { ...PUBLIC_ROUTE, access: "key", metering: METERING.LISTING } as const;

/**
 * Creates a server with deterministic request ids, one valid key, and a log line for every request. The
 * server is closed after the last test of the file.
 */
export async function testServer(
  options: Partial<HttpServerOptions> = {},
): Promise<{ app: FastifyInstance; lines: ReturnType<typeof recordingLog>["lines"] }> {
  const { log, lines } = recordingLog();
  let drawCount = 0;
  const app = await createHttpServer({
    clock: systemClock,
    log,
    random: {
      uniform: () => 0.5,
      bytes: (length) => {
        drawCount += 1;
        return new Uint8Array(length).fill(drawCount % 256);
      },
    },
    data: "sandbox",
    authentication: { authenticate: (bearer) => (bearer === VALID_KEY ? CUSTOMER : null) },
    successLogsPerSecond: 1_000_000,
    ...options,
  });
  atFileEnd(() => app.close());
  return { app, lines };
}
