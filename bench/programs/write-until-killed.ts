/**
 * Child process that writes batches of ticks (production writer) and trades (production store) until it is killed.
 * After the store acknowledged a batch, the total number of rows is written to standard output, which is a file.
 */
import { writeSync } from "node:fs";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { createMarketStore, createTickWriter } from "../../src/storage/index.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { openStore } from "../harness/open-store.ts";
import { sampleTick } from "../harness/sample-ticks.ts";

const BATCH_ROWS = 500;

const [kind = "", location = "", fromText = "", nextText = ""] = process.argv.slice(2);
const database = await openStore(kind, location);
const writer = createTickWriter({ database, clock: systemClock, log: quietLog });
const marketStore = createMarketStore(database);
const fromMs = Number(fromText);
for (let next = Number(nextText); ; next += BATCH_ROWS) {
  const ticks = Array.from({ length: BATCH_ROWS }, (_, index) => sampleTick(next + index, fromMs));
  for (const tick of ticks) writer.write(tick);
  const trades = ticks.map((tick, index) => ({
    marketKey: tick.marketKey,
    trade: {
      tradeId: String(next + index),
      yesPrice: tick.yesPrice ?? 0.5,
      size: 1,
      takerSide: null,
      executedAt: tick.receivedAt,
    },
  }));
  await Promise.all([writer.flush(), marketStore.insertTrades(trades)]);
  writeSync(1, `${next + BATCH_ROWS}\n`);
}
