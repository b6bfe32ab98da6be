/** `node research/backtest/record-world.ts`: writes a recording of a simulated world, faster than real time. */
import { parseArgs } from "node:util";
import { createWorld } from "../../sandbox/world/index.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import { openRecordingWriter } from "../../src/recording/index.ts";
import { startOfUtcDate } from "../../src/trading/index.ts";
import { worldFacts } from "./world-facts.ts";

const USAGE = `Usage: node research/backtest/record-world.ts --out FILE [--from DATE] [--days N] [--seed N] [--markets N]

Writes a recording of simulated markets, read once an hour, for npm run backtest. The same options write the same file.
  --out      the new file; gzipped if its name ends in .gz
  --from     first day, YYYY-MM-DD, UTC (default 2026-10-01)
  --days     length in days (default 25)
  --seed     seed of the world (default 1)
  --markets  open markets of the trading venues at the start (default 400)
`;
const BYTES_MAX = 4_000_000_000;
/** Number of facts written between two waits for the disk. */
const FACTS_PER_PAUSE = 500;

try {
  const { values } = parseArgs({
    options: {
      out: { type: "string" },
      from: { type: "string", default: "2026-10-01" },
      days: { type: "string", default: "25" },
      seed: { type: "string", default: "1" },
      markets: { type: "string", default: "400" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) process.stdout.write(USAGE);
  else if (values.out === undefined) throw new Error(`--out is missing\n\n${USAGE}`);
  else
    await record(values.out, {
      from: startOfUtcDate(values.from),
      days: parseCount("--days", values.days),
      seed: parseCount("--seed", values.seed),
      marketCount: parseCount("--markets", values.markets),
    });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

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

function parseCount(name: string, text: string): number {
  if (!/^[1-9][0-9]{0,6}$/.test(text)) throw new Error(`${name} must be a whole number from 1 to 9999999`);
  return Number(text);
}
