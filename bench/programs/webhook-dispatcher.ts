/**
 * Delivers webhooks for bench/webhooks.ts until it is killed:
 * `webhook-dispatcher.ts <url> <schema> <channel> <retry delay, ms> <deadline, ms>`.
 */
import { randomUUID } from "node:crypto";
import { openPostgresBus } from "../../src/adapters/bus/postgres-bus.ts";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import { Dispatcher } from "../../src/capabilities/events/webhooks/index.ts";
import { createEventLog } from "../../src/event-log/index.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { fakeSeal } from "../../test/support/webhooks/fake-webhook-ports.ts";
import { createLoopbackWebhookOut } from "../../test/support/webhooks/loopback-webhook-out.ts";

const [url = "", schema = "", channel = "", retryDelayMs, deadlineMs] = process.argv.slice(2);
const common = { clock: systemClock, random: systemRandom, log: quietLog };
const database = await openPostgresDatabase({ url, schema, log: quietLog });
const bus = openPostgresBus({ url, channel, ...common });
const dispatcher = new Dispatcher({
  ...common,
  database,
  bus,
  eventLog: createEventLog({ database, bus }),
  out: createLoopbackWebhookOut({ deadlineMs: Number(deadlineMs) }),
  seal: fakeSeal,
  nodeId: randomUUID(),
  retryDelaysMs: Array<number>(20).fill(Number(retryDelayMs)),
});
dispatcher.start();
process.send?.("started");
process.on("disconnect", () => process.exit());
