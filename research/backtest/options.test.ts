import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { HOUR_MS } from "../../src/lib/durations.ts";
import { parseBacktestOptions } from "./options.ts";

const PERIOD = ["--from", "2026-06-01", "--to", "2026-06-03"];

test("the default is hourly signals for the 200 most liquid markets", () => {
  assert.deepEqual(parseBacktestOptions([...PERIOD, "--recording", "file"]), {
    from: Date.UTC(2026, 5, 1),
    to: Date.UTC(2026, 5, 3),
    everyMs: HOUR_MS,
    marketsMax: 200,
    assumedSize: null,
    source: { kind: "recording", location: "file" },
    html: null,
    json: null,
  });
  assert.equal(parseBacktestOptions(["--help"]), null);
});

describe("invalid options are rejected with a message that names the option", () => {
  const source = ["--recording", "file"];
  for (const [name, args, message] of [
    ["no dates", source, /--from is missing/],
    ["no end", ["--from", "2026-06-01", ...source], /--to is missing/],
    ["a day that does not exist", ["--from", "2026-02-30", "--to", "2026-06-03", ...source], /--from must be a day/],
    ["an empty period", ["--from", "2026-06-01", "--to", "2026-06-01", ...source], /--from must be before --to/],
    ["no source", PERIOD, /needs a source/],
    ["two sources", [...PERIOD, ...source, "--store", "folder"], /not both/],
    ["an unknown interval", [...PERIOD, ...source, "--every", "7h"], /--every must be one of 5m, 15m/],
    ["no markets", [...PERIOD, ...source, "--markets", "0"], /--markets must be a whole number/],
    ["a negative size", [...PERIOD, ...source, "--assumed-size=-5"], /--assumed-size must be a whole number/],
    ["an unknown option", [...PERIOD, ...source, "--seed", "1"], /--seed/],
  ] as const)
    test(name, () => {
      assert.throws(() => parseBacktestOptions(args), message);
    });
});
