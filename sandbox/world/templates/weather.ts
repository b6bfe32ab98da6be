import { gaussian } from "../random.ts";
import {
  createBinaryEvent,
  createVenueTexts,
  draw,
  type MarketDefinition,
  pick,
  type Template,
} from "./event-definition.ts";

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

export const createTemperatureEvent: Template = (input, close) => {
  const city = pick(CITIES, input, 7);
  const baseDegrees = 40 + Math.round(40 * draw(input, 8));
  const createMarketDefinition = (
    label: string,
    { strike, criterion }: Pick<MarketDefinition, "strike" | "criterion">,
  ) => ({
    label,
    questions: createVenueTexts(`Will the highest temperature in ${city} be ${label} on ${close.monthAndDay}?`, {
      kalshi: `Will the high temp in ${city} be ${label} on ${close.longDate}?`,
    }),
    rules: `Resolves YES if the highest temperature recorded in ${city} on ${close.longDate} is ${label} Fahrenheit, rounded to whole degrees, in the first complete daily climate report.`,
    strike,
    criterion,
  });
  return {
    ...weatherFields(city, "HIGH"),
    seriesTitle: `Highest temperature in ${city}`,
    mutuallyExclusive: true,
    exhaustive: true,
    ladder: false,
    model: { kind: "numeric", mean: baseDegrees + 4 + 3 * gaussian(input.seed, input.underlying, 105), deviation: 3.2 },
    titles: {
      kalshi: `Highest temperature in ${city} on ${close.shortDate}?`,
      polymarket: `Highest temperature in ${city} on ${close.monthAndDay}?`,
      limitless: `${city} high temperature ${close.shortDate}`,
      manifold: `Highest temperature in ${city} on ${close.longDate}`,
    },
    description: `The highest temperature in ${city} on ${close.longDate} in the daily climate report.`,
    markets: [
      createMarketDefinition(`${baseDegrees}° or below`, {
        strike: { type: "less", floor: null, cap: baseDegrees + 1 },
        criterion: { kind: "range", above: Number.NEGATIVE_INFINITY, upTo: baseDegrees + 0.5 },
      }),
      ...[baseDegrees + 1, baseDegrees + 3, baseDegrees + 5, baseDegrees + 7].map((low) =>
        createMarketDefinition(`${low}° to ${low + 1}°`, {
          strike: { type: "between", floor: low, cap: low + 1 },
          criterion: { kind: "range", above: low - 0.5, upTo: low + 1.5 },
        }),
      ),
      createMarketDefinition(`${baseDegrees + 9}° or above`, {
        strike: { type: "greater", floor: baseDegrees + 8, cap: null },
        criterion: { kind: "range", above: baseDegrees + 8.5, upTo: Number.POSITIVE_INFINITY },
      }),
    ],
  };
};

export const createRainEvent: Template = (input, close) => {
  const city = pick(CITIES, input, 9);
  return createBinaryEvent(input, {
    ...weatherFields(city, "RAIN"),
    seriesTitle: `Rain in ${city}`,
    titles: {
      kalshi: `Rain in ${city} on ${close.shortDate}?`,
      polymarket: `Will it rain in ${city} on ${close.monthAndDay}?`,
      limitless: `Rain in ${city} on ${close.shortDate}?`,
      manifold: `Will it rain in ${city} on ${close.longDate}?`,
    },
    description: `Whether measurable rain falls in ${city} on ${close.longDate}.`,
    rules: `Resolves YES if at least 0.01 inch of rain is measured in ${city} on ${close.longDate}. A trace is not enough.`,
  });
};
