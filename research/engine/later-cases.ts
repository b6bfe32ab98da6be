/** Creates cases for comparing estimates with later prices, from each kind of file. */
import { yesPrice } from "../../src/domain/market.ts";
import { normaliseBook } from "../../src/domain/order-book.ts";
import type { BookView, MarketView, PeerView, QuotePoint } from "../../src/engine/index.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import { findLaterPrice, type LaterPriceCase } from "./later-price.ts";
import type { DepthPoint, EngineFile, QuotesPoint } from "./rows.ts";
import { createEmptyView, toQuestionHistories, viewQuestion } from "./views.ts";

/** Maximum age of the recorded prices in a view. */
const HISTORY_MS = 8 * DAY_MS;

/** Yields one case per market and recorded time, market by market. */
export function createLaterPriceCases(file: EngineFile): Iterable<LaterPriceCase> {
  if (file.kind === "quotes") return quotesCases(file.rows);
  return file.kind === "depth" ? depthCases(file.rows) : resolvedCases(file);
}

function* resolvedCases({ rows }: Extract<EngineFile, { kind: "resolved" }>): Generator<LaterPriceCase> {
  for (const history of toQuestionHistories(rows))
    for (const { at } of history.prices) {
      const { group, prices } = history;
      const priceAfter = (hours: number) => findLaterPrice(prices, at, hours);
      yield { group, event: group, view: viewQuestion(history, at), priceAfter };
    }
}

interface Tick {
  readonly at: number;
  readonly yesPrice: number | null;
  readonly quote: QuotePoint;
}

/** Yields one case per row and venue. The other venues of the row become the peers of the case. */
function* quotesCases(rows: readonly QuotesPoint[]): Generator<LaterPriceCase> {
  const contracts = Map.groupBy(sorted(rows), ({ contest, outcome }) => `${contest}: ${outcome}`);
  for (const [group, points] of contracts) {
    const venues = [...new Set(points.flatMap(({ sides }) => sides.map(({ venue }) => venue)))];
    const series = new Map(venues.map((venue) => [venue, points.map((point) => quotesTick(point, venue))]));
    for (const [venue, ticks] of series)
      for (const [index, tick] of ticks.entries()) {
        if (tick.yesPrice === null) continue;
        const peers = venues.flatMap((other) =>
          other === venue ? [] : peerOf(other, group, series.get(other)?.[index]),
        );
        yield toCase(group, points[0]?.contest ?? group, ticks, tick, {
          ...createEmptyView(venue, group, tick.at),
          peers,
        });
      }
  }
}

function* depthCases(rows: readonly DepthPoint[]): Generator<LaterPriceCase> {
  const markets = Map.groupBy(sorted(rows), ({ venue, ticker }) => `${venue} ${ticker}`);
  for (const [group, points] of markets) {
    const ticks = points.map((point) => ({ ...depthTick(point), point }));
    for (const tick of ticks) {
      if (tick.yesPrice === null) continue;
      const { venue, ticker } = tick.point;
      const view = { ...createEmptyView(venue, ticker, tick.at), book: tick.book };
      // Tickers of one event differ only in their last part, after the last hyphen.
      yield toCase(group, ticker.replace(/-[^-]*$/, ""), ticks, tick, view);
    }
  }
}

function toCase(group: string, event: string, ticks: readonly Tick[], tick: Tick, view: MarketView): LaterPriceCase {
  const prices = ticks.flatMap(({ at, yesPrice: price }) =>
    price !== null && at <= tick.at && at >= tick.at - HISTORY_MS ? [{ at, yesPrice: price }] : [],
  );
  const priceAfter = (hours: number) => findLaterPrice(ticks, tick.at, hours);
  return { group, event, view: { ...view, quote: tick.quote, prices }, priceAfter };
}

function quotesTick({ at, sides }: QuotesPoint, venue: string): Tick {
  const side = sides.find((item) => item.venue === venue);
  return toTick(at, toOpen(side?.bid), toOpen(side?.ask), null, null);
}

/** Returns null for a bid of 0 or an ask of 1, because such a price means that there is no offer. */
const toOpen = (price: number | null | undefined): number | null =>
  price !== null && price !== undefined && price > 0 && price < 1 ? price : null;

function depthTick(point: DepthPoint): Tick & { readonly book: BookView } {
  const { bids, asks } = bookOf(point);
  const [bid, ask] = [bids[0], asks[0]];
  const tick = toTick(point.at, bid?.price ?? null, ask?.price ?? null, bid?.size ?? null, ask?.size ?? null);
  return { ...tick, book: { at: point.at, bids, asks } };
}

function toTick(
  at: number,
  bid: number | null,
  ask: number | null,
  bidSize: number | null,
  askSize: number | null,
): Tick {
  const quote = { at, bid, ask, bidSize, askSize, lastPrice: null, indicativePrice: null };
  return { at, quote, yesPrice: yesPrice(quote) };
}

function bookOf({ yes_bids, no_bids }: DepthPoint): ReturnType<typeof normaliseBook> {
  return normaliseBook(
    yes_bids.map(([price, size]) => ({ price, size })),
    // Rounds away floating-point error, so that 1 - 0.93 gives 0.07.
    no_bids.map(([price, size]) => ({ price: Math.round((1 - price) * 1e6) / 1e6, size })),
  );
}

function peerOf(venue: string, marketId: string, tick: Tick | undefined): PeerView[] {
  if (tick === undefined || tick.yesPrice === null) return [];
  const { bid, ask } = tick.quote;
  const { kind } = createEmptyView(venue, marketId, tick.at);
  return [
    {
      venue,
      adapter: venue,
      marketId,
      isInverse: false,
      matchConfidence: 1,
      kind,
      at: tick.at,
      yesPrice: tick.yesPrice,
      spread: bid === null || ask === null ? null : ask - bid,
      liquidityUsd: null,
      volume24hUsd: null,
    },
  ];
}

const sorted = <Dated extends { readonly at: number }>(rows: readonly Dated[]): Dated[] =>
  rows.toSorted((a, b) => a.at - b.at);
