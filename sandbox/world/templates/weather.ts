import { gaussian } from "../random.ts";
import { binaryEvent, draw, type MarketDefinition, pick, type Template, venueTexts } from "./event-definition.ts";

const CITIES = "New York, Chicago, Miami, Austin, Denver, Los Angeles, Philadelphia, Seattle, London, Tokyo".split(
  ", ",
);

function weatherFields(city: string, seriesPrefix: string) {
  return {
    series: `${seriesPrefix}${city.replaceAll(" ", "").slice(0, 4).toUpperCase()}`,
    category: "Weather",
    tags: ["Weather", city],
    frequency: "daily",
    source: "https://www.weather.gov",
  } as const;
}

export const temperature: Template = (input, close) => {
  const city = pick(CITIES, input, 7);
  const base = 40 + Math.round(40 * draw(input, 8));
  const market = (label: string, { strike, criterion }: Pick<MarketDefinition, "strike" | "criterion">) => ({
    label,
    questions: venueTexts(`Will the highest temperature in ${city} be ${label} on ${close.noYear}?`, {
      kalshi: `Will the high temp in ${city} be ${label} on ${close.long}?`,
    }),
    rules: `Resolves YES if the highest temperature recorded in ${city} on ${close.long} is ${label} Fahrenheit, rounded to whole degrees, in the first complete daily climate report.`,
    strike,
    criterion,
  });
  return {
    ...weatherFields(city, "HIGH"),
    seriesTitle: `Highest temperature in ${city}`,
    mutuallyExclusive: true,
    exhaustive: true,
    ladder: false,
    model: { kind: "numeric", mean: base + 4 + 3 * gaussian(input.seed, input.underlying, 105), deviation: 3.2 },
    titles: {
      kalshi: `Highest temperature in ${city} on ${close.short}?`,
      polymarket: `Highest temperature in ${city} on ${close.noYear}?`,
      limitless: `${city} high temperature ${close.short}`,
      manifold: `Highest temperature in ${city} on ${close.long}`,
    },
    description: `The highest temperature in ${city} on ${close.long} in the daily climate report.`,
    markets: [
      market(`${base}° or below`, {
        strike: { type: "less", floor: null, cap: base + 1 },
        criterion: { kind: "range", above: Number.NEGATIVE_INFINITY, upTo: base + 0.5 },
      }),
      ...[base + 1, base + 3, base + 5, base + 7].map((low) =>
        market(`${low}° to ${low + 1}°`, {
          strike: { type: "between", floor: low, cap: low + 1 },
          criterion: { kind: "range", above: low - 0.5, upTo: low + 1.5 },
        }),
      ),
      market(`${base + 9}° or above`, {
        strike: { type: "greater", floor: base + 8, cap: null },
        criterion: { kind: "range", above: base + 8.5, upTo: Number.POSITIVE_INFINITY },
      }),
    ],
  };
};

export const rain: Template = (input, close) => {
  const city = pick(CITIES, input, 9);
  return binaryEvent(input, {
    ...weatherFields(city, "RAIN"),
    seriesTitle: `Rain in ${city}`,
    titles: {
      kalshi: `Rain in ${city} on ${close.short}?`,
      polymarket: `Will it rain in ${city} on ${close.noYear}?`,
      limitless: `Rain in ${city} on ${close.short}?`,
      manifold: `Will it rain in ${city} on ${close.long}?`,
    },
    description: `Whether measurable rain falls in ${city} on ${close.long}.`,
    rules: `Resolves YES if at least 0.01 inch of rain is measured in ${city} on ${close.long}. A trace is not enough.`,
  });
};
