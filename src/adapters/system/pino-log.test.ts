import assert from "node:assert/strict";
import { test } from "node:test";
import { createPinoLog } from "./pino-log.ts";

function createCapturedLog(level = "info") {
  const lines: string[] = [];
  const log = createPinoLog(level, { write: (line) => void lines.push(line) });
  return { log, lines };
}

test("a log line is one JSON object with level, time, fields and message", () => {
  const { log, lines } = createCapturedLog();
  log.child({ venue: "kalshi" }).info({ market_key: 7, at: new Date(0) }, "swept");
  assert.equal(lines.length, 1);
  const { time, ...rest } = JSON.parse(lines[0] ?? "");
  assert.ok(!Number.isNaN(Date.parse(time)));
  assert.deepEqual(rest, {
    level: "info",
    venue: "kalshi",
    market_key: 7,
    at: "1970-01-01T00:00:00.000Z",
    message: "swept",
  });
});

test("hides credentials in fields, messages, errors and causes", () => {
  const { log, lines } = createCapturedLog();
  const apiKey = `plx_pro_${"a2".repeat(16)}b`;
  const error = Object.assign(new Error(`refused ${apiKey}`, { cause: new Error("postgres://me:hunter2@db/x") }), {
    headers: { Authorization: "Bearer canary-1234", "x-rapidapi-proxy-secret": "canary" },
  });
  log
    .child({ api_key: "canary" })
    .error({ err: error, secretKey: "canary", list: [{ token: "canary" }], key: apiKey }, `with ${apiKey}`);
  const text = lines.join("");
  assert.ok(!text.includes("canary") && !text.includes("hunter2") && !text.includes("a2a2"));
  assert.ok(text.includes("[hidden]") && text.includes("refused plx_pro_"));
});

test("omits lines below the level, and logs circular objects, bigints and bytes without throwing", () => {
  const { log, lines } = createCapturedLog("warn");
  log.info({}, "dropped");
  const circular: Record<string, unknown> = { big: 1n, bytes: new Uint8Array(3), none: undefined };
  circular.self = circular;
  log.warn(circular, "written");
  assert.equal(lines.length, 1);
});

test("a line has at most 16 Ki characters, for any fields, names and message", () => {
  const { log, lines } = createCapturedLog();
  const texts = ["x", "\u0000", '"', "\\", "\ud800"].map((character) => character.repeat(100_000));
  for (const text of texts) {
    log.child({ [text]: text, list: Array(100).fill(text) }).info({ [text]: text, list: Array(100).fill(text) }, text);
    log.error({ err: new Error(text, { cause: { [text]: 1 } }) }, "failed");
    log.warn(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}${text}`, 1])), "");
  }
  assert.equal(lines.length, 15);
  for (const line of lines) {
    assert.ok(line.length <= 16 * 1024, `${line.length} characters`);
    assert.equal(typeof JSON.parse(line), "object");
  }
});

test("names of fields are cut to 100 characters", () => {
  const { log, lines } = createCapturedLog();
  log.info({ ["n".repeat(101)]: 1 }, "read");
  assert.equal(JSON.parse(lines[0] ?? "")["n".repeat(100)], 1);
});
