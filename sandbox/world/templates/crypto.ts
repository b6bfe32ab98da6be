import { DAY_MS, HOUR_MS } from "../../../src/lib/durations.ts";
import type { SandboxVenue } from "../types.ts";
import {
  createDateTexts,
  createDescriptions,
  createRules,
  createVenueTexts,
  type DateTexts,
  draw,
  type EventDefinition,
  formatNumber,
  forVenues,
  pick,
  separateTrap,
  type Template,
  type TemplateInput,
} from "./event-definition.ts";
import { createNumberEvent, type NumberSpec } from "./number-event.ts";

const CRYPTO = { category: "Crypto", source: "https://data.chain.link" } as const;
const COINS = [
  { name: "Bitcoin", ticker: "BTC", price: 96_000, step: 1_000 },
  { name: "Ethereum", ticker: "ETH", price: 3_400, step: 50 },
  { name: "Solana", ticker: "SOL", price: 190, step: 5 },
  { name: "XRP", ticker: "XRP", price: 2.4, step: 0.05 },
  { name: "BNB", ticker: "BNB", price: 880, step: 10 },
  { name: "Litecoin", ticker: "LTC", price: 96, step: 2 },
] as const;
type Coin = (typeof COINS)[number];
const ROUND_MS = 900_000;
const THOUSAND = 1_000;

/** Formats dollars as the venue does: "$96,500", or "$96.5k" on Limitless. */
function formatDollars(dollars: number, venue: SandboxVenue): string {
  if (venue === "limitless" && dollars >= 10 * THOUSAND) return `$${Number((dollars / THOUSAND).toFixed(3))}k`;
  return `$${formatNumber(dollars)}`;
}

/** @param isDailyLow whether the event asks about the lowest price of the day instead of the price at one time */
function createSpec(input: TemplateInput, close: DateTexts, isDailyLow: boolean): NumberSpec {
  const { name, ticker, price, step } = pick<Coin>(COINS, input, 5);
  const days = Math.max(0.02, (input.closeAt - input.openAt) / DAY_MS);
  const deviation = price * 0.025 * Math.sqrt(days);
  const { dates, fullDates, times } = close;
  return {
    ...CRYPTO,
    identity: `${ticker} ${isDailyLow ? "low" : ""} ${close.longDate} ${close.time}`,
    series: isDailyLow ? `${ticker}LOW` : ticker,
    seriesTitle: `${name} price`,
    tags: [name, "Crypto"],
    titles: isDailyLow
      ? {
          kalshi: `${name} low on ${dates.kalshi}?`,
          polymarket: `${name} lowest price before ${times.polymarket} on ${dates.polymarket}?`,
          limitless: `$${ticker} low on ${dates.limitless}, until ${times.limitless}`,
          manifold: `${name} minimum price on ${dates.manifold} (until ${times.manifold})`,
        }
      : {
          kalshi: `${name} price on ${dates.kalshi} at ${times.kalshi}?`,
          polymarket: `${name} above ___ on ${dates.polymarket}, ${times.polymarket}?`,
          limitless: `$${ticker} price on ${dates.limitless}, ${times.limitless}`,
          manifold: `${name} price at ${times.manifold} on ${dates.manifold}`,
        },
    subject: forVenues(
      (venue) =>
        `the ${isDailyLow ? "lowest " : ""}${name} price in US dollars ${isDailyLow ? "on the day until" : "at"} ${times[venue]} on ${fullDates[venue]}`,
    ),
    number: {
      center: price * (0.95 + 0.1 * draw(input, 6)),
      deviation,
      step: step * Math.max(1, Math.round(deviation / step / 1.5)),
      count: 5,
    },
    shape: "ladder",
    format: formatDollars,
    question: (predicate, venue) => {
      const low = isDailyLow ? "low " : "";
      return {
        kalshi: `Will the ${name} ${low}price be ${predicate} at ${times.kalshi} on ${dates.kalshi}?`,
        polymarket: `Will the ${low}price of ${name} be ${predicate} on ${dates.polymarket}, ${times.polymarket}?`,
        limitless: `$${ticker} ${low}${predicate} on ${dates.limitless}, ${times.limitless}?`,
        manifold: `${ticker} ${low}${predicate} at ${times.manifold} on ${dates.manifold}?`,
      }[venue];
    },
    condition: (predicate, venue) => {
      const quantity = isDailyLow ? "lowest price of the day" : "price";
      return {
        kalshi: `the reference ${quantity} of ${name} is ${predicate} at ${times.kalshi} on ${fullDates.kalshi}`,
        polymarket: `the ${quantity} of ${ticker}/USD is ${predicate} at ${times.polymarket} on ${fullDates.polymarket}, according to the data stream of the resolution source`,
        limitless: `the ${ticker}/USD ${quantity} at ${times.limitless} on ${fullDates.limitless} is ${predicate}`,
        manifold: `${name} has a ${quantity} ${predicate} at ${times.manifold} on ${fullDates.manifold}`,
      }[venue];
    },
  };
}

export const createCoinPriceEvent: Template = (input, close) => {
  const listTraps = () => {
    const nextCloseAt = input.closeAt + HOUR_MS;
    const nextHour = createSpec({ ...input, closeAt: nextCloseAt }, createDateTexts(nextCloseAt), false);
    return [
      { ...separateTrap("window", createNumberEvent(input, nextHour)), closeAt: nextCloseAt },
      separateTrap("measure", createNumberEvent(input, createSpec(input, close, true))),
    ];
  };
  return createNumberEvent(input, { ...createSpec(input, close, false), traps: listTraps });
};

/** Creates a 15-minute round. It resolves YES if the last price is at or above the first price. */
export function createQuarterHourRound(input: TemplateInput): EventDefinition {
  const { name, ticker } = pick<Coin>(COINS.slice(0, 3), input, 25);
  const start = createDateTexts(input.closeAt - ROUND_MS);
  const end = createDateTexts(input.closeAt);
  const title = `${name} Up or Down - ${start.monthAndDay}, ${start.time} to ${end.time}`;
  return {
    ...CRYPTO,
    identity: `${ticker} round ${end.longDate} ${end.time}`,
    series: `${ticker}15M`,
    seriesTitle: `${name} up or down, 15 minutes`,
    tags: [name, "Crypto", "15M"],
    isRound: true,
    mutuallyExclusive: false,
    exhaustive: false,
    ladder: false,
    model: { kind: "numeric", mean: 0, deviation: 1 },
    titles: createVenueTexts(title, {
      kalshi: `${name} price up in 15 minutes, ${start.shortDate} ${start.time}?`,
      limitless: `$${ticker} up or down, ${start.time}–${end.time}`,
    }),
    descriptions: createDescriptions(
      createVenueTexts(
        `whether the ${name} price at ${end.time} on ${end.longDate} is at or above its price at ${start.time}`,
      ),
    ),
    markets: [
      {
        labels: createVenueTexts("Up"),
        questions: createVenueTexts(`${title}?`, {
          kalshi: `Will ${name} be up from ${start.time} to ${end.time} on ${start.longDate}?`,
          limitless: `$${ticker} up or down, ${start.time}–${end.time} on ${start.shortDate}?`,
        }),
        rules: createRules({
          kalshi: `the reference price of ${name} at ${end.time} on ${end.shortDate} is at or above the price at ${start.time}`,
          polymarket: `the ${ticker}/USD price at the end of the range in the title is greater than or equal to the price at its beginning (${start.time} to ${end.time}, ${end.longDate})`,
          limitless: `the ${ticker}/USD price at ${end.time} on ${end.longDate} is not below the price at ${start.time}`,
          manifold: `${name} is at or above its price of ${start.time} at ${end.time} on ${end.longDate}`,
        }),
        strike: null,
        criterion: { kind: "range", above: 0, upTo: Number.POSITIVE_INFINITY },
      },
    ],
  };
}
