import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AS_OF, anyView } from "../../test/support/engine/market-views.ts";
import { HOUR_MS } from "../lib/durations.ts";
import { dailyMove } from "./daily-move.ts";
import { toProbability } from "./log-odds.ts";

const hourly = (logOddsAt: (hour: number) => number) =>
  Array.from({ length: 169 }, (_, hour) => ({
    at: AS_OF - (168 - hour) * HOUR_MS,
    yesPrice: toProbability(logOddsAt(hour)),
  }));

test("known value: a price whose log-odds rise by 0.02 an hour moves 0.54 in 27 hours, the longest day", () => {
  assert.ok(Math.abs(dailyMove({ asOf: AS_OF, prices: hourly((hour) => hour / 50 - 1.5) }) - 0.54) < 0.02);
});

test("noise that reverts within hours counts once, not once an hour", () => {
  const noise = dailyMove({ asOf: AS_OF, prices: hourly((hour) => (hour % 2 === 0 ? 0.1 : -0.1)) });
  assert.ok(noise <= 0.2 + 1e-9);
});

test("with few prices the typical move of markets is used", () => {
  assert.equal(dailyMove({ asOf: AS_OF, prices: [] }), 0.32);
  assert.equal(dailyMove({ asOf: AS_OF, prices: hourly(() => 0).slice(-20) }), 0.32);
});

test("law: the move is in [0, 2], and prices before the last eight days change nothing", () => {
  fc.assert(
    fc.property(anyView, (view) => {
      const move = dailyMove(view);
      assert.ok(move >= 0 && move <= 2);
      const recent = view.prices.filter(({ at }) => at >= AS_OF - 192 * HOUR_MS);
      assert.equal(dailyMove({ asOf: AS_OF, prices: recent }), move);
    }),
  );
});
