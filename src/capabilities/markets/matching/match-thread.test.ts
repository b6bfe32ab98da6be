import assert from "node:assert/strict";
import { after, test } from "node:test";
import { embeddedDatabase } from "../../../../test/support/databases.ts";
import { SAMPLE_AT, sampleEvent, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { eventually } from "../../../../test/support/service-process.ts";
import { createInProcessBus } from "../../../adapters/bus/in-process-bus.ts";
import { openStateThread } from "../../../adapters/system/state-thread.ts";
import { systemClock } from "../../../adapters/system/system-clock.ts";
import { systemRandom } from "../../../adapters/system/system-random.ts";
import { MarketBoard } from "../../../board/index.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import { createMatching, type Matching } from "./service.ts";

const CLOSE_AT = SAMPLE_AT + 30 * DAY_MS;
const opened: Matching[] = [];
after(() => Promise.all(opened.map((matching) => matching.stop())));

/** Two venues that list the same markets with the same texts; `order` is the order in which the board receives them. */
async function matchOnThread(order: (ids: string[]) => string[]) {
  const board = new MarketBoard(() => systemClock.now());
  const matching = createMatching({
    board,
    database: await embeddedDatabase(),
    bus: createInProcessBus(quietLog),
    log: quietLog,
    clock: systemClock,
    random: systemRandom,
    openStateThread: (module, options) => openStateThread(module, options, systemClock),
    venues: ["alpha", "beta"].map((id) => ({ id, playMoney: false })),
  });
  opened.push(matching);
  const ids = ["alpha", "beta"].flatMap((venue) => [4, 5, 6].map((rate) => `${venue}/${rate}`));
  for (const id of order(ids)) {
    const [venue = "", rate = ""] = id.split("/");
    const title = `Will US inflation be above ${rate}% in December 2026?`;
    board.applyEvent(sampleEvent("CPI", { venue, title: "US inflation in December 2026" }));
    const listing = { venue, title, eventId: "CPI", closeAt: CLOSE_AT, expectedResolutionAt: CLOSE_AT };
    board.apply(sampleMarket(rate, { listing }), SAMPLE_AT);
  }
  matching.start();
  await eventually(() => (matching.isComplete ? true : null), "the matching");
  return [...matching.pairs()].sort((a, b) => (`${a.a} ${a.b}` < `${b.a} ${b.b}` ? -1 : 1));
}

test("on the real thread, markets with equal texts are matched and markets with different numbers are not", async () => {
  const pairs = await matchOnThread((ids) => ids);
  assert.deepEqual(
    pairs.filter(({ relation }) => relation === "identical").map(({ a, b }) => [a, b]),
    [
      ["alpha/4", "beta/4"],
      ["alpha/5", "beta/5"],
      ["alpha/6", "beta/6"],
    ],
  );
});

test("the same board gives the same pairs on every node, for any order of arrival of the markets", async () => {
  const expected = await matchOnThread((ids) => ids);
  for (const order of [(ids: string[]) => ids.toReversed(), (ids: string[]) => [...ids.slice(2), ...ids.slice(0, 2)]])
    assert.deepEqual(await matchOnThread(order), expected);
});
