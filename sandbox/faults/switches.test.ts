import assert from "node:assert/strict";
import { test } from "node:test";
import { FAULT_NAMES, FaultError, parseFaults, parseFaultText } from "./switches.ts";

test("parses a rate or an object with a rate and parameters, and fills in defaults", () => {
  assert.deepEqual(parseFaults({ rate_limit: 0.25, latency: { ms: 800 }, garbage: { rate: 0.5, kind: "nan" } }), {
    rate_limit: { rate: 0.25 },
    latency: { rate: 1, ms: 800, jitter_ms: 300 },
    garbage: { rate: 0.5, kind: "nan" },
  });
  assert.deepEqual(parseFaults({}), {});
});

test("rejects unknown switches, unknown parameters and values out of range with a message that lists the valid values", () => {
  const cases: readonly [unknown, RegExp][] = [
    [null, /expected an object/],
    [[], /expected an object/],
    [{ latence: 1 }, /unknown switch "latence"; switches: latency, /],
    [{ constructor: 1 }, /unknown switch "constructor"/],
    [{ latency: 1.01 }, /latency: rate must be between 0 and 1/],
    [{ latency: -0.1 }, /between 0 and 1/],
    [{ latency: "1" }, /between 0 and 1/],
    [{ latency: null }, /between 0 and 1/],
    [{ latency: { milliseconds: 3 } }, /unknown parameter "milliseconds"; parameters: rate, ms, jitter_ms/],
    [{ latency: { ms: -1 } }, /ms must be a number from 0 to 600000/],
    [{ garbage: { kind: "noise" } }, /kind must be one of any, html, binary, nan, gzip/],
  ];
  for (const [value, message] of cases) {
    assert.throws(
      () => parseFaults(value),
      (error) => error instanceof FaultError && message.test(error.message),
      JSON.stringify(value),
    );
  }
});

test("parses the text form with names of venues and switches, and with `all`", () => {
  const byVenue = parseFaultText(" a:frozen=1 ; b:latency=0.5,server_error=0.1", ["a", "b"]);
  assert.deepEqual(
    [...byVenue],
    [
      ["a", { frozen: { rate: 1 } }],
      ["b", parseFaults({ latency: 0.5, server_error: 0.1 })],
    ],
  );
  const all = parseFaultText("all:all=0.25;b:frozen=0", ["a", "b"]);
  assert.deepEqual(Object.keys(all.get("a") ?? {}), FAULT_NAMES);
  assert.deepEqual([all.get("a")?.frozen, all.get("b")?.frozen], [{ rate: 0.25 }, { rate: 0 }]);
  assert.equal(parseFaultText("", ["a"]).size, 0);
  for (const invalid of ["a", "a:", "c:frozen=1", "a:frozen", "a:frozen=x", "a:thaw=1", "a:frozen=2"])
    assert.throws(() => parseFaultText(invalid, ["a", "b"]), FaultError, invalid);
});
