/** Parses the command-line options of `npm run backtest`. */
import { parseArgs } from "node:util";
import { MINUTE_MS } from "../../src/lib/durations.ts";
import { startOfUtcDate } from "../../src/trading/index.ts";
import { parseCount } from "../run-command.ts";

export const BACKTEST_USAGE = `Usage: npm run backtest -- --from DATE --to DATE --recording FILE [options]
       npm run backtest -- --from DATE --to DATE --store URL_OR_FOLDER [options]

Replays recorded or stored market data, makes signals like the service, and reports what they would have earned. A signal uses
only data that is not newer than it. The same data gives the same result. The last line of the output is one JSON object.
  --from, --to     days as YYYY-MM-DD, UTC: the first day, and the day after the last one
  --recording      a recording (docs/recording.md)
  --store          the service's own store: a PostgreSQL URL, or the data directory of a service that is not running
  --every          time between the signals of a market: 5m, 15m, 30m, 1h, 2h, 3h, 4h, 6h, 12h or 1d (default 1h)
  --markets        number of markets with signals, the most liquid first (default 200)
  --assumed-size   contracts that are assumed to be offered at a quote without a size (default: none, no trade)
  --html           writes a report as one self-contained HTML page
  --json           writes all figures as JSON, with the profit of each day
`;

const INTERVAL_MINUTES: ReadonlyMap<string, number> = new Map([
  ["5m", 5],
  ["15m", 15],
  ["30m", 30],
  ["1h", 60],
  ["2h", 120],
  ["3h", 180],
  ["4h", 240],
  ["6h", 360],
  ["12h", 720],
  ["1d", 1_440],
]);
const COUNT_MAX = 1_000_000;

export interface BacktestOptions {
  /** Time of the first signals: midnight UTC, Unix milliseconds. */
  readonly from: number;
  /** End of the period in Unix milliseconds, exclusive. It is midnight UTC. */
  readonly to: number;
  /** Interval between the signals of a market, in milliseconds; divides a day. */
  readonly everyMs: number;
  /** Maximum number of markets with signals, the most liquid first. */
  readonly marketsMax: number;
  /** Contracts assumed to be offered at a bid or ask without a size; if null, such a price cannot be traded. */
  readonly assumedSize: number | null;
  readonly source: { readonly kind: "recording" | "store"; readonly location: string };
  readonly html: string | null;
  readonly json: string | null;
}

/**
 * @returns  null for `--help`
 * @throws Error with a message for the user if an option is missing or invalid
 */
export function parseBacktestOptions(args: readonly string[]): BacktestOptions | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      from: { type: "string" },
      to: { type: "string" },
      recording: { type: "string" },
      store: { type: "string" },
      every: { type: "string", default: "1h" },
      markets: { type: "string", default: "200" },
      "assumed-size": { type: "string" },
      html: { type: "string" },
      json: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return null;
  const from = parseDate("--from", values.from);
  const to = parseDate("--to", values.to);
  if (from >= to) throw new Error(`--from must be before --to; ${values.from} is not before ${values.to}.`);
  const { recording, store } = values;
  if (recording !== undefined && store !== undefined)
    throw new Error("A backtest reads one source: --recording or --store, not both.");
  const location = recording ?? store ?? "";
  if (location === "") throw new Error("A backtest needs a source: --recording FILE or --store URL_OR_FOLDER.");
  const everyMinutes = INTERVAL_MINUTES.get(values.every);
  if (everyMinutes === undefined)
    throw new Error(`--every must be one of ${[...INTERVAL_MINUTES.keys()].join(", ")}; it is "${values.every}".`);
  return {
    from,
    to,
    everyMs: everyMinutes * MINUTE_MS,
    marketsMax: parseCount("--markets", values.markets, COUNT_MAX),
    assumedSize:
      values["assumed-size"] === undefined ? null : parseCount("--assumed-size", values["assumed-size"], COUNT_MAX),
    source: { kind: recording === undefined ? "store" : "recording", location },
    html: values.html ?? null,
    json: values.json ?? null,
  };
}

function parseDate(name: string, text: string | undefined): number {
  if (text === undefined) throw new Error(`${name} is missing: a day as YYYY-MM-DD.`);
  try {
    return startOfUtcDate(text);
  } catch (error) {
    throw new Error(`${name} must be a day as YYYY-MM-DD; it is "${text}".`, { cause: error });
  }
}
