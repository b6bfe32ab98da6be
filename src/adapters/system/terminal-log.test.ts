import assert from "node:assert/strict";
import { test } from "node:test";
import { createPinoLog } from "./pino-log.ts";
import { formatLogLine, usesColour } from "./terminal-log.ts";

const line = (fields: object) =>
  JSON.stringify({ level: "info", time: "2026-11-26T15:30:44.599Z", message: "market read", ...fields });

test("a line on a terminal has the time, the level, the message and the fields", () => {
  const text = formatLogLine(line({ venue: "alpha", ms: 12, reason: "two words", list: [1] }), { hasColour: false });
  assert.equal(text, '15:30:44Z INFO  market read venue=alpha ms=12 reason="two words" list=[1]\n');
});

test("the stack of an error follows on indented lines, with its message as a field", () => {
  const lines: string[] = [];
  createPinoLog("info", { write: (text) => lines.push(text) }).error({ err: new Error("disk full") }, "write failed");
  const [first = "", second = "", third = ""] = formatLogLine(lines[0] ?? "", { hasColour: false }).split("\n");
  assert.match(first, /^\d\d:\d\d:\d\dZ ERROR write failed error="disk full"$/);
  assert.equal(second, "    Error: disk full");
  assert.match(third, /^ {4}at /);
});

test("warnings and errors are coloured unless NO_COLOR is set or the terminal is dumb", () => {
  assert.ok(formatLogLine(line({ level: "warn" }), { hasColour: true }).includes("\u001b[33mWARN \u001b[0m"));
  assert.ok(!formatLogLine(line({ level: "warn" }), { hasColour: false }).includes("\u001b"));
  const environments = [{}, { NO_COLOR: "" }, { NO_COLOR: "1" }, { TERM: "dumb" }];
  assert.deepEqual(environments.map(usesColour), [true, true, false, false]);
});

test("a terminal never receives control characters of logged values", () => {
  const hostile = "\u001b[2J\u009b2J\r\n\u0007";
  const text = formatLogLine(line({ message: hostile, title: hostile, stack: hostile }), { hasColour: false });
  assert.equal([...text].filter((character) => character !== "\n" && /\p{Cc}/u.test(character)).length, 0);
});
