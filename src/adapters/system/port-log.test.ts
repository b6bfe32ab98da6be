import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { recordingLog } from "../../../test/support/test-app.ts";
import { VenueError } from "../../domain/errors.ts";
import { openPortLog, serveLog } from "./port-log.ts";

test("lines of another thread reach the log with their fields and errors, from the minimum level on", async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  const { log, lines } = recordingLog();
  serveLog(port1, log);
  const other = openPortLog(port2, "info");
  const err = new VenueError("timeout", "late", { retryable: true, cause: new Error("inner") });
  other.debug({}, "dropped");
  other.child({ venue: "alpha" }).warn({ err, list: [1, null] }, "failed");
  other.info({ token: "secret", call: () => {}, symbol: Symbol("s") }, "last");
  port2.close();
  await new Promise((resolve) => port1.once("close", resolve));
  const [failed, last] = lines;
  const logged = failed?.err as { failure: string; message: string; cause: { message: string } };
  assert.deepEqual([lines.length, failed?.level, failed?.message, failed?.venue], [2, "warn", "failed", "alpha"]);
  assert.deepEqual([logged.failure, logged.message, logged.cause.message], ["timeout", "late", "inner"]);
  assert.deepEqual([last?.level, last?.token], ["info", "[hidden]"]);
});

test("a line has the fields of every log that it was derived from, and its own fields replace theirs", async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  const { log, lines } = recordingLog();
  serveLog(port1, log);
  const venueLog = openPortLog(port2, "info").child({ venue: "alpha", loop: "sweep" });
  venueLog.child({ loop: "trades", failures: 1 }).warn({ failures: 2 }, "failed");
  venueLog.info({}, "last");
  port2.close();
  await new Promise((resolve) => port1.once("close", resolve));
  assert.deepEqual(lines, [
    { level: "warn", message: "failed", venue: "alpha", loop: "trades", failures: 2 },
    { level: "info", message: "last", venue: "alpha", loop: "sweep" },
  ]);
});
