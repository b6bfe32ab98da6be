/**
 * Turns the tape of quotes of the same contract on Kalshi and Polymarket into a recording that the sandbox replays
 * (docs/recording.md).
 *
 *   node bench/convert-xvenue-quotes.ts [tape] [recording]
 */
import { type Fact, openRecordingWriter } from "../src/recording/index.ts";
import { isProgram, listingOf, NO_EVENT, readRecordingRows, writeSorted } from "./support/recording.ts";

const TAPE = "../shared/data/tape-xvenue-quotes.jsonl.gz";

interface Top {
  readonly yes_bid: number | null;
  readonly yes_ask: number | null;
}

export interface XvenueRow {
  readonly ts: string;
  readonly outcome: string;
  readonly contest: string;
  readonly kalshi: Top & { readonly ticker: string };
  readonly polymarket: Top & { readonly event_id: string; readonly market_id: string };
}

/** A side that nobody quotes is written as 0, as 1 or as nothing. */
export function quotedPrice(price: number | null): number | null {
  return price !== null && price > 0 && price < 1 ? price : null;
}

/** The facts of one row: both venues' quotes, without sizes, which the tape does not know. */
export function factsOfXvenue(row: XvenueRow, isFirst: boolean): Fact[] {
  const at = Date.parse(row.ts);
  const { ticker } = row.kalshi;
  const places = [
    { venue: "kalshi", top: row.kalshi, marketId: ticker, eventId: ticker.slice(0, ticker.lastIndexOf("-")) },
    { venue: "polymarket", top: row.polymarket, marketId: row.polymarket.market_id, eventId: row.polymarket.event_id },
  ];
  return places.flatMap(({ venue, top, marketId, eventId }): Fact[] => {
    const quote: Fact = {
      at,
      venue,
      kind: "quote",
      marketId,
      quote: {
        bid: quotedPrice(top.yes_bid),
        ask: quotedPrice(top.yes_ask),
        bidSize: null,
        askSize: null,
        lastPrice: null,
        indicativePrice: null,
        eventAt: at,
      },
    };
    if (!isFirst) return [quote];
    const market = listingOf({
      marketId,
      eventId,
      title: `${row.contest} — ${row.outcome}`,
      label: row.outcome,
      venueKeys: {},
    });
    return [
      { at, venue, kind: "event", event: { ...NO_EVENT, eventId, title: row.contest } },
      { at, venue, kind: "market", market },
      quote,
    ];
  });
}

/** @returns how many rows of the tape and how many facts of the recording there are */
export async function convertXvenueQuotes(tape: string, recording: string): Promise<{ rows: number; facts: number }> {
  const rows = await readRecordingRows<XvenueRow>(tape);
  const seen = new Set<string>();
  return writeSorted(recording, rows, {
    source: "tape of quotes on two venues",
    open: openRecordingWriter,
    factsOf(row) {
      const isFirst = !seen.has(row.kalshi.ticker);
      seen.add(row.kalshi.ticker);
      return factsOfXvenue(row, isFirst);
    },
  });
}

if (isProgram(import.meta.url)) {
  const [tape = TAPE, recording = "xvenue-quotes.jsonl.gz"] = process.argv.slice(2);
  const { rows, facts } = await convertXvenueQuotes(tape, recording);
  process.stdout.write(`${rows} rows of ${tape} are ${facts} facts in ${recording}\n`);
}
