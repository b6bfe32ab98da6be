/** `node research/backtest/record-world.ts`: writes a recording of a simulated world without waiting in real time. */
import { createWorld } from "../../sandbox/world/index.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import { openRecordingWriter } from "../../src/recording/index.ts";
import { startOfUtcDate } from "../../src/trading/index.ts";
import { parseCount, runCommand, stringOption } from "../run-command.ts";
import { worldFacts } from "./world-facts.ts";

const USAGE = `Usage: node research/backtest/record-world.ts --out FILE [--from DATE] [--days N] [--seed N] [--markets N]

Writes a recording of simulated markets, read once an hour, for npm run backtest. The same options write the same file.
  --out      the new file; gzipped if its name ends in .gz
  --from     first day, YYYY-MM-DD, UTC (default 2026-10-01)
  --days     length in days (default 25)
  --seed     seed of the world (default 1)
  --markets  open markets of the trading venues at the start (default 400)
`;
const COUNT_MAX = 9_999_999;
const BYTES_MAX = 4_000_000_000;
/** Number of facts appended before waiting until the writer has flushed to disk. */
const FACTS_PER_PAUSE = 500;

await runCommand(
  {
    usage: USAGE,
    options: {
      out: stringOption(""),
      from: stringOption("2026-10-01"),
      days: stringOption("25"),
      seed: stringOption("1"),
      markets: stringOption("400"),
    },
  },
  async ({ out, from, days, seed, markets }) => {
    if (out === "") throw new Error(`--out is missing\n\n${USAGE}`);
    await record(out, {
      from: startOfUtcDate(from),
      days: parseCount("--days", days, COUNT_MAX),
      seed: parseCount("--seed", seed, COUNT_MAX),
      marketCount: parseCount("--markets", markets, COUNT_MAX),
    });
  },
);

async function record(
  file: string,
  options: { readonly from: number; readonly days: number; readonly seed: number; readonly marketCount: number },
): Promise<void> {
  const { from, days, seed, marketCount } = options;
  const world = createWorld({ seed, marketCount, genesis: from, speed: 1 });
  const header = { startedAt: from, source: `simulated world, seed ${seed}, ${marketCount} markets` };
  const writer = await openRecordingWriter({ file, header, bytesMax: BYTES_MAX });
  let count = 0;
  for (const fact of worldFacts(world, { from, to: from + days * DAY_MS, stepMs: HOUR_MS })) {
    writer.append(fact);
    if (++count % FACTS_PER_PAUSE === 0) await writer.ready();
  }
  const { facts, bytes } = writer;
  await writer.close();
  process.stdout.write(`${file}: ${facts} facts, ${Math.round(bytes / 1e6)} MB before compression\n`);
}
