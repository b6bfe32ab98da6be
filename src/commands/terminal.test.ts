import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { onSignal } from "./terminal.ts";

test("signals within two seconds after the first are ignored, and a later one exits immediately", () => {
  const signals = new EventEmitter();
  const closes: string[] = [];
  const exits: number[] = [];
  let now = 1_000;
  const environment = {
    on: signals.on.bind(signals),
    exit: (code: number) => exits.push(code),
    monotonic: () => now,
  };
  onSignal(async (signal) => void closes.push(signal), environment);
  for (const [at, signal] of [
    [1_000, "SIGINT"],
    [1_000, "SIGINT"],
    [1_005, "SIGTERM"],
    [3_000, "SIGINT"],
  ] as const) {
    now = at;
    signals.emit(signal);
  }
  assert.deepEqual([closes, exits], [["SIGINT"], []]);
  now = 3_001;
  signals.emit("SIGINT");
  assert.deepEqual([closes, exits], [["SIGINT"], [1]]);
});
