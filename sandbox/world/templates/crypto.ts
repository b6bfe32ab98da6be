import {
  createDateTexts,
  createThresholdEvent,
  createVenueTexts,
  DAY_MS,
  draw,
  type EventDefinition,
  pick,
  type Template,
  type TemplateInput,
} from "./event-definition.ts";

const CRYPTO = { category: "Crypto", source: "https://data.chain.link" } as const;
const COINS = [
  { name: "Bitcoin", ticker: "BTC", price: 96_000, step: 1_000 },
  { name: "Ethereum", ticker: "ETH", price: 3_400, step: 50 },
  { name: "Solana", ticker: "SOL", price: 190, step: 5 },
] as const;
const ROUND_MS = 900_000;

export const createCoinPriceEvent: Template = (input, close) => {
  const { name, ticker, price, step } = pick(COINS, input, 5);
  const days = Math.max(0.02, (input.closeAt - input.openAt) / DAY_MS);
  const deviation = price * 0.025 * Math.sqrt(days);
  return createThresholdEvent(input, {
    ...CRYPTO,
    series: ticker,
    seriesTitle: `${name} price`,
    tags: [name, "Crypto"],
    frequency: days < 2 ? "daily" : "weekly",
    titles: {
      kalshi: `${name} price on ${close.shortDate} at ${close.time}?`,
      polymarket: `${name} above ___ on ${close.monthAndDay}, ${close.time}?`,
      limitless: `$${ticker} price on ${close.shortDate}, ${close.time}`,
      manifold: `${name} price at ${close.time} on ${close.longDate}`,
    },
    description: `The ${name} price in US dollars at ${close.time} on ${close.longDate}.`,
    number: {
      center: price * (0.95 + 0.1 * draw(input, 6)),
      deviation,
      step: step * Math.max(1, Math.round(deviation / step / 1.5)),
      count: 5,
    },
    format: (dollars) => `$${dollars.toLocaleString("en-US")}`,
    questions: (dollars) => ({
      kalshi: `Will ${name} be above ${dollars} at ${close.time} on ${close.longDate}?`,
      polymarket: `Will the price of ${name} be above ${dollars} on ${close.monthAndDay}, ${close.time}?`,
      limitless: `$${ticker} above ${dollars} on ${close.shortDate}, ${close.time}?`,
      manifold: `${name} > ${dollars} at ${close.time} on ${close.longDate}?`,
    }),
    rules: (dollars) =>
      `Resolves YES if the ${name} reference price is above ${dollars} at ${close.time} on ${close.longDate}.`,
  });
};

/** Creates a 15-minute round. It resolves YES if the last price is at or above the first price. */
export function createQuarterHourRound(input: TemplateInput): EventDefinition {
  const { name, ticker } = pick(COINS, input, 25);
  const start = createDateTexts(input.closeAt - ROUND_MS);
  const end = createDateTexts(input.closeAt);
  const title = `${name} up or down, ${start.monthAndDay}, ${start.time} to ${end.time}`;
  return {
    ...CRYPTO,
    series: `${ticker}15M`,
    seriesTitle: `${name} up or down, 15 minutes`,
    tags: [name, "Crypto", "15M"],
    frequency: "fifteen_min",
    mutuallyExclusive: false,
    exhaustive: false,
    ladder: false,
    model: { kind: "numeric", mean: 0, deviation: 1 },
    titles: createVenueTexts(title, {
      kalshi: `${name} price up in 15 minutes, ${start.shortDate} ${start.time}?`,
      limitless: `$${ticker} up or down, ${start.time}–${end.time}`,
    }),
    description: `Whether the ${name} price at ${end.time} on ${end.longDate} is at or above its price at ${start.time}.`,
    markets: [
      {
        label: "Up",
        questions: createVenueTexts(`${title}?`, {
          kalshi: `Will ${name} be up from ${start.time} to ${end.time} on ${start.longDate}?`,
        }),
        rules: `Resolves YES (Up) if the ${name} reference price at ${end.time} on ${end.longDate} is at or above the price at ${start.time}; otherwise NO (Down).`,
        strike: null,
        criterion: { kind: "range", above: 0, upTo: Number.POSITIVE_INFINITY },
      },
    ],
  };
}
