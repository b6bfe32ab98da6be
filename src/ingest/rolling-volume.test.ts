import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Trade } from "../domain/trade.ts";
import { DAY_MS, MINUTE_MS } from "../lib/durations.ts";
import { RollingVolume } from "./rolling-volume.ts";

const NOW = Date.UTC(2026, 10, 21, 12);

const trade = (executedAt: number, usd = 1, tradeId = `t${executedAt}`): Trade => ({
  tradeId,
  executedAt,
  yesPrice: 0.5,
  size: 2 * usd,
  takerSide: null,
});

test("before the first read, the total is null and the next read starts a day ago", () => {
  const volume = new RollingVolume();
  assert.equal(volume.total(NOW), null);
  assert.equal(volume.nextReadFrom(NOW), NOW - DAY_MS);
});

test("after a complete read of a day, the total is the sum of price times size, or 0 if there are no trades", () => {
  const quiet = new RollingVolume();
  quiet.add([], NOW - DAY_MS, true, NOW);
  assert.equal(quiet.total(NOW), 0);
  const busy = new RollingVolume();
  busy.add([trade(NOW, 0.1), trade(NOW - 60 * MINUTE_MS, 0.2)], NOW - DAY_MS, true, NOW);
  assert.equal(busy.total(NOW), 0.3);
});

test("after a truncated read, the total is null until the oldest trade of the read is a day old", () => {
  const volume = new RollingVolume();
  const oldest = NOW - 60 * MINUTE_MS;
  volume.add([trade(NOW, 3), trade(oldest, 4)], NOW - DAY_MS, false, NOW);
  assert.equal(volume.total(NOW), null);
  assert.equal(volume.total(oldest + DAY_MS - 6 * MINUTE_MS), null);
  assert.equal(volume.total(oldest + DAY_MS), 7);
});

test("a truncated read after a complete read leaves a gap, so the total is null", () => {
  const volume = new RollingVolume();
  volume.add([trade(NOW - 60 * MINUTE_MS)], NOW - DAY_MS, true, NOW);
  assert.equal(volume.total(NOW), 1);
  volume.add([trade(NOW), trade(NOW - MINUTE_MS)], NOW - 60 * MINUTE_MS, false, NOW);
  assert.equal(volume.total(NOW), null);
});

test("a trade that is read twice counts once", () => {
  const volume = new RollingVolume();
  volume.add([trade(NOW, 5)], NOW - DAY_MS, true, NOW);
  assert.equal(volume.nextReadFrom(NOW), NOW);
  volume.add([trade(NOW + 1, 2), trade(NOW, 5)], NOW, true, NOW + 1);
  assert.equal(volume.total(NOW + 1), 7);
});

test("trades before the requested range are ignored, because an earlier read counted them", () => {
  const volume = new RollingVolume();
  volume.add([trade(NOW, 5), trade(NOW - MINUTE_MS, 4)], NOW - DAY_MS, true, NOW);
  volume.add([trade(NOW, 5), trade(NOW - MINUTE_MS, 4)], NOW, true, NOW + 1);
  assert.equal(volume.total(NOW + 1), 9);
});

test("a repeated trade of the last second counts once, also after a read without trades", () => {
  const volume = new RollingVolume();
  volume.add([trade(NOW, 5), trade(NOW - 900, 4)], NOW - DAY_MS, true, NOW);
  volume.add([], NOW, true, NOW);
  volume.add([trade(NOW, 5), trade(NOW - 900, 4)], NOW, true, NOW);
  assert.equal(volume.total(NOW), 9);
  assert.ok(volume.isRepeatable(trade(NOW - 900), NOW));
  assert.ok(!volume.isRepeatable(trade(NOW - 1_000), NOW));
});

test("the total does not contain trades older than a day", () => {
  const volume = new RollingVolume();
  volume.add([trade(NOW, 5), trade(NOW - 10 * MINUTE_MS, 2)], NOW - DAY_MS, true, NOW);
  assert.equal(volume.total(NOW), 7);
  assert.equal(volume.total(NOW + DAY_MS - 7 * MINUTE_MS), 5);
  assert.equal(volume.total(NOW + DAY_MS + 6 * MINUTE_MS), 0);
});

test("if the last read returned no trades, the next read starts at most 5 minutes before the last read", () => {
  const volume = new RollingVolume();
  volume.add([], NOW - DAY_MS, true, NOW);
  const next = volume.nextReadFrom(NOW + 60 * MINUTE_MS);
  assert.ok(next >= NOW - 5 * MINUTE_MS && next <= NOW, String(next));
});

test("a trade with a timestamp in the future does not exclude earlier trades from the next read", () => {
  const volume = new RollingVolume();
  volume.add([trade(NOW + 365 * DAY_MS)], NOW - DAY_MS, true, NOW);
  assert.ok(volume.nextReadFrom(NOW + MINUTE_MS) <= NOW);
});

test("overlapping reads result in the total of all trades of the last day, with the precision of one bucket", () => {
  const ages = fc.array(fc.integer({ min: 0, max: 30 * 60 }), { maxLength: 30 });
  fc.assert(
    fc.property(ages, fc.integer({ min: 1, max: 5 }), (minutes, reads) => {
      const trades = [...new Set(minutes)].map((age) => trade(NOW - age * MINUTE_MS));
      const volume = new RollingVolume();
      for (let read = reads - 1; read >= 0; read--) {
        const at = NOW - read * 90 * MINUTE_MS;
        const since = volume.nextReadFrom(at);
        const returned = trades.filter(({ executedAt }) => executedAt >= since && executedAt <= at);
        volume.add(
          returned.sort((a, b) => b.executedAt - a.executedAt),
          since,
          true,
          at,
        );
      }
      const within = (ageMs: number) => trades.filter(({ executedAt }) => executedAt >= NOW - ageMs).length;
      const total = volume.total(NOW) ?? -1;
      assert.ok(total >= within(DAY_MS - 5 * MINUTE_MS) && total <= within(DAY_MS), `${total} of ${within(DAY_MS)}`);
    }),
  );
});
