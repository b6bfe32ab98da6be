/**
 * Child process: serves the event stream from the event log of a PostgreSQL schema. The number of streams is not
 * limited, and every Bearer key is valid.
 *
 * argv: database URL, schema, bus channel, port (0 selects a free port).
 *
 * Sends `{ port }` over IPC once it accepts connections. Replies to any IPC message with `{ figures }`. SIGTERM stops it
 * gracefully.
 */
import type { AddressInfo } from "node:net";
import { openPostgresBus } from "../../src/adapters/bus/postgres-bus.ts";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import { createStreaming, streamRoutes } from "../../src/capabilities/events/streaming/index.ts";
import { PLAN_ALLOWANCES } from "../../src/domain/plan.ts";
import { createEventLog } from "../../src/event-log/index.ts";
import { drain } from "../../src/http/lifecycle.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { quietLog } from "../../test/support/quiet-log.ts";

const UNLIMITED = 1_000_000;
const STOP_MS_MAX = 5_000;

const [url = "", schema = "", channel = "", port = "0"] = process.argv.slice(2);
const shared = { clock: systemClock, random: systemRandom, log: quietLog };
const database = await openPostgresDatabase({ url, schema, log: quietLog });
const bus = openPostgresBus({ ...shared, url, channel });
const streaming = createStreaming({
  ...shared,
  bus,
  log: createEventLog({ database, bus }),
  logger: quietLog,
  keysTopic: "keys",
  readPlans: async (keyIds) => new Map(keyIds.map((keyId) => [keyId, "free" as const])),
  limits: { perKey: UNLIMITED, perAddress: UNLIMITED },
});
const http = await createHttpServer({
  ...shared,
  data: "sandbox",
  connections: { total: UNLIMITED, perAddress: UNLIMITED },
  authentication: {
    authenticate: (bearer) => ({
      kind: "customer",
      customerId: bearer,
      keyId: bearer,
      plan: "free",
      allowance: PLAN_ALLOWANCES.free,
    }),
  },
});
streamRoutes(http, { streaming, venues: { trading: ["alpha"], all: ["alpha"] } });
streaming.start();
await http.listen({ host: "127.0.0.1", port: Number(port), backlog: 4_096 });
process.on("message", () => process.send?.({ figures: streaming.figures }));
process.once("SIGTERM", async () => {
  await drain(http, { clock: systemClock, deadlineMs: STOP_MS_MAX });
  await streaming.stop();
  process.exit(0);
});
process.send?.({ port: (http.server.address() as AddressInfo).port });
