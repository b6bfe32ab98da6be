/**
 * Turns the tape of recorded Kalshi order books into a recording that the sandbox replays (docs/recording.md).
 *
 *   node bench/convert-kalshi-depth.ts [tape] [recording]
 */
import { fromMicros, toMicros } from "../src/domain/price.ts";
import { type Fact, openRecordingWriter } from "../src/recording/index.ts";
import { isProgram, listingOf, NO_EVENT, readRecordingRows, writeSorted } from "./support/recording.ts";

const TAPE = "../shared/data/tape-kalshi-depth.jsonl.gz";

export interface DepthRow {
  readonly ts: string;
  readonly ticker: string;
  /** Price and size, both sides as bids: a no bid at q is a yes ask at 1 - q. */
  readonly yes_bids: readonly (readonly [number, number])[];
  readonly no_bids: readonly (readonly [number, number])[];
}

/**
 * The facts of one row. The tape knows tickers and books alone; the event is the ticker without its last part, and that
 * part is the name of the market in it.
 */
export function factsOfDepth(row: DepthRow, isFirst: boolean): Fact[] {
  const at = Date.parse(row.ts);
  const venue = "kalshi";
  const { ticker: marketId } = row;
  const cut = marketId.lastIndexOf("-");
  const eventId = marketId.slice(0, cut);
  const label = marketId.slice(cut + 1);
  const book: Fact = {
    at,
    venue,
    kind: "book",
    marketId,
    book: {
      bids: row.yes_bids.map(([price, size]) => ({ price, size })).sort((a, b) => b.price - a.price),
      asks: row.no_bids
        .map(([price, size]) => ({ price: fromMicros(1_000_000 - toMicros(price)), size }))
        .sort((a, b) => a.price - b.price),
      lastPrice: null,
      eventAt: at,
    },
  };
  if (!isFirst) return [book];
  const series = eventId.slice(0, eventId.indexOf("-"));
  return [
    { at, venue, kind: "event", event: { ...NO_EVENT, eventId, title: eventId } },
    {
      at,
      venue,
      kind: "market",
      market: listingOf({ marketId, eventId, title: `${eventId} — ${label}`, label, venueKeys: { series } }),
    },
    book,
  ];
}

/** @returns how many rows of the tape and how many facts of the recording there are */
export async function convertKalshiDepth(tape: string, recording: string): Promise<{ rows: number; facts: number }> {
  const rows = await readRecordingRows<DepthRow>(tape);
  const seen = new Set<string>();
  return writeSorted(recording, rows, {
    source: "tape of Kalshi order books",
    open: openRecordingWriter,
    factsOf(row) {
      const isFirst = !seen.has(row.ticker);
      seen.add(row.ticker);
      return factsOfDepth(row, isFirst);
    },
  });
}

if (isProgram(import.meta.url)) {
  const [tape = TAPE, recording = "kalshi-depth.jsonl.gz"] = process.argv.slice(2);
  const { rows, facts } = await convertKalshiDepth(tape, recording);
  process.stdout.write(`${rows} rows of ${tape} are ${facts} facts in ${recording}\n`);
}
