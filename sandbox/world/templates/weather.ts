import { type BinarySpec, createBinaryEvent } from "./binary-event.ts";
import {
  type DateTexts,
  draw,
  forVenues,
  pick,
  separateTrap,
  type Template,
  type TemplateInput,
} from "./event-definition.ts";
import { createNumberEvent, type NumberSpec } from "./number-event.ts";

interface City {
  readonly name: string;
  readonly shortName: string;
  /** Events use the first station and their traps the second. Only rules and descriptions contain the station. */
  readonly stations: readonly [string, string];
}

const city = (name: string, shortName: string, ...stations: [string, string]): City => ({ name, shortName, stations });
const CITIES: readonly City[] = [
  city("New York City", "NYC", "Central Park", "LaGuardia Airport"),
  city("Chicago", "Chicago", "Midway Airport", "O'Hare Airport"),
  city("Miami", "Miami", "Miami International Airport", "Miami Beach"),
  city("Austin", "Austin", "Camp Mabry", "Austin-Bergstrom Airport"),
  city("Denver", "Denver", "Denver International Airport", "Denver Central Park"),
  city("Los Angeles", "LA", "Los Angeles International Airport", "Downtown (USC)"),
  city("Philadelphia", "Philly", "Philadelphia International Airport", "Franklin Institute"),
  city("Seattle", "Seattle", "Sea-Tac Airport", "Boeing Field"),
  city("London", "London", "Heathrow Airport", "London City Airport"),
  city("Tokyo", "Tokyo", "Tokyo Kitanomaru Park", "Haneda Airport"),
  city("Boston", "Boston", "Logan Airport", "Blue Hill Observatory"),
  city("Houston", "Houston", "Hobby Airport", "Bush Intercontinental Airport"),
  city("Phoenix", "Phoenix", "Sky Harbor Airport", "Deer Valley Airport"),
  city("San Francisco", "SF", "Downtown San Francisco", "San Francisco International Airport"),
  city("Toronto", "Toronto", "Pearson Airport", "Billy Bishop Airport"),
  city("Paris", "Paris", "Paris-Montsouris", "Charles de Gaulle Airport"),
];

function weatherFields({ name }: City, seriesPrefix: string, station: string, day: string) {
  return {
    identity: `${seriesPrefix} ${name} ${station} ${day}`,
    series: `${seriesPrefix}${name.replaceAll(" ", "").slice(0, 5).toUpperCase()}`,
    category: "Weather",
    tags: ["Weather", name],
    source: "https://www.weather.gov",
  } as const;
}

/** Returns "48°" on Kalshi and "48°F" on the other venues. */
const formatDegrees = (degrees: number, isKalshi: boolean) => (isKalshi ? `${degrees}°` : `${degrees}°F`);

function createTemperatureSpec(
  input: TemplateInput,
  close: DateTexts,
  { isLowest, stationIndex }: { readonly isLowest: boolean; readonly stationIndex: 0 | 1 },
): NumberSpec {
  const place = pick(CITIES, input, 7);
  const station = place.stations[stationIndex];
  const extreme = isLowest ? "lowest" : "highest";
  const short = isLowest ? "low" : "high";
  const { dates, fullDates } = close;
  return {
    ...weatherFields(place, isLowest ? "LOW" : "HIGH", station, close.longDate),
    seriesTitle: `${isLowest ? "Lowest" : "Highest"} temperature in ${place.name}`,
    titles: {
      kalshi: `${isLowest ? "Lowest" : "Highest"} temperature in ${place.shortName} on ${dates.kalshi}?`,
      polymarket: `${isLowest ? "Lowest" : "Highest"} temperature in ${place.name} on ${dates.polymarket}?`,
      limitless: `${place.shortName} ${short} temperature, ${dates.limitless}`,
      manifold: `What will the ${extreme} temperature in ${place.name} be on ${dates.manifold}?`,
    },
    subject: forVenues((venue) => `the ${extreme} temperature at ${station} on ${fullDates[venue]}`),
    number: { center: 42 + 2 * Math.round(20 * draw(input, 8)), deviation: 3.2, step: 2, count: 5, unit: 1 },
    shape: "buckets",
    format: (degrees, venue) => formatDegrees(degrees, venue === "kalshi"),
    question: (predicate, venue) =>
      ({
        kalshi: `Will the ${short} temp in ${place.shortName} be ${predicate} on ${dates.kalshi}?`,
        polymarket: `Will the ${extreme} temperature in ${place.name} be ${predicate} on ${dates.polymarket}?`,
        limitless: `${place.shortName} ${short} of ${predicate} on ${dates.limitless}?`,
        manifold: `Will ${place.name}'s ${short} be ${predicate} on ${dates.manifold}?`,
      })[venue],
    condition: (predicate, venue) =>
      ({
        kalshi: `the ${extreme} temperature recorded at ${station}, ${place.name} for ${fullDates.kalshi} is ${predicate} according to the Climatological Report (Daily)`,
        polymarket: `the ${extreme} temperature recorded at the ${station} station on ${fullDates.polymarket} is ${predicate}, in whole degrees Fahrenheit`,
        limitless: `${station} records a daily ${short} of ${predicate} on ${fullDates.limitless}`,
        manifold: `the ${extreme} temperature at ${station} on ${fullDates.manifold} is ${predicate} (Fahrenheit, whole degrees)`,
      })[venue],
  };
}

export const createTemperatureEvent: Template = (input, close) => {
  const createSpec = (isLowest: boolean, stationIndex: 0 | 1) =>
    createTemperatureSpec(input, close, { isLowest, stationIndex });
  return createNumberEvent(input, {
    ...createSpec(false, 0),
    traps: () => [
      separateTrap("station", createNumberEvent(input, createSpec(false, 1))),
      separateTrap("measure", createNumberEvent(input, createSpec(true, 0))),
    ],
  });
};

export const createRainEvent: Template = (input, close) => {
  const place = pick(CITIES, input, 9);
  const { dates, fullDates } = close;
  const createSpec = (stationIndex: 0 | 1): BinarySpec => {
    const station = place.stations[stationIndex];
    return {
      ...weatherFields(place, "RAIN", station, close.longDate),
      seriesTitle: `Rain in ${place.name}`,
      subject: forVenues((venue) => `whether measurable rain falls at ${station} on ${fullDates[venue]}`),
      question: (claim, venue) =>
        claim === "yes"
          ? {
              kalshi: `Rain in ${place.shortName} on ${dates.kalshi}?`,
              polymarket: `Will it rain in ${place.name} on ${dates.polymarket}?`,
              limitless: `${place.shortName}: measurable rain on ${dates.limitless}?`,
              manifold: `Will there be rain in ${place.name} on ${dates.manifold}?`,
            }[venue]
          : {
              kalshi: `No rain in ${place.shortName} on ${dates.kalshi}?`,
              polymarket: `Will it stay dry in ${place.name} on ${dates.polymarket}?`,
              limitless: `${place.shortName}: dry day on ${dates.limitless}?`,
              manifold: `Will there be NO rain in ${place.name} on ${dates.manifold}?`,
            }[venue],
      condition: (claim, venue) => {
        const amount = claim === "yes" ? "at least 0.01 inch" : "less than 0.01 inch";
        return {
          kalshi: `${amount} of rain is recorded at ${station}, ${place.name} on ${fullDates.kalshi}`,
          polymarket: `the ${station} station reports ${amount} of precipitation on ${fullDates.polymarket}`,
          limitless: `daily precipitation at ${station} on ${fullDates.limitless} is ${amount}`,
          manifold: `${amount} of rain is measured at ${station} on ${fullDates.manifold}`,
        }[venue];
      },
      note: "a trace counts as no rain",
    };
  };
  return createBinaryEvent(input, {
    ...createSpec(0),
    traps: () => [separateTrap("station", createBinaryEvent(input, createSpec(1)))],
  });
};
