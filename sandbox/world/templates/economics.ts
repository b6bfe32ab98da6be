import { gaussian } from "../random.ts";
import {
  createDescriptions,
  createRules,
  createSingleEvent,
  createWithTrap,
  draw,
  type EventDefinition,
  formatNumber,
  forVenues,
  type MarketDefinition,
  sharedTrap,
  type Template,
  type VenueTexts,
  YES_LABELS,
} from "./event-definition.ts";
import { createNumberEvent, type NumberSpec } from "./number-event.ts";

interface FedDecision {
  readonly labels: VenueTexts;
  /** Words that end a sentence about the Fed. */
  readonly phrases: VenueTexts;
  /** Change of the target range in basis points. A decision covers the changes in (above, upTo]. */
  readonly above: number;
  readonly upTo: number;
}

const FED_DECISIONS: readonly FedDecision[] = [
  {
    labels: {
      kalshi: "Cut >25bps",
      polymarket: "50+ bps decrease",
      limitless: "50+ bps cut",
      manifold: "Cuts by 0.5 points or more",
    },
    phrases: {
      kalshi: "Cut rates by more than 25bps",
      polymarket: "decreases interest rates by 50+ bps",
      limitless: "cut of 50 bps or more",
      manifold: "cut rates by half a point or more",
    },
    above: Number.NEGATIVE_INFINITY,
    upTo: -37.5,
  },
  {
    labels: {
      kalshi: "Cut 25bps",
      polymarket: "25 bps decrease",
      limitless: "25 bps cut",
      manifold: "Cuts by 0.25 points",
    },
    phrases: {
      kalshi: "Cut rates by 25bps",
      polymarket: "decreases interest rates by 25 bps",
      limitless: "cut of 25 bps",
      manifold: "cut rates by a quarter point",
    },
    above: -37.5,
    upTo: -12.5,
  },
  {
    labels: {
      kalshi: "Maintains rate",
      polymarket: "No change",
      limitless: "Hold",
      manifold: "Leaves rates unchanged",
    },
    phrases: {
      kalshi: "Maintain the current rate",
      polymarket: "makes no change in interest rates",
      limitless: "rate hold",
      manifold: "leave rates unchanged",
    },
    above: -12.5,
    upTo: 12.5,
  },
  {
    labels: {
      kalshi: "Hike 25bps or more",
      polymarket: "25+ bps increase",
      limitless: "25+ bps hike",
      manifold: "Raises rates",
    },
    phrases: {
      kalshi: "Hike rates by at least 25bps",
      polymarket: "increases interest rates by 25+ bps",
      limitless: "hike of 25 bps or more",
      manifold: "raise rates",
    },
    above: 12.5,
    upTo: Number.POSITIVE_INFINITY,
  },
];
const ANY_CUT: FedDecision = {
  labels: YES_LABELS,
  phrases: {
    kalshi: "Cut rates",
    polymarket: "decreases interest rates",
    limitless: "rate cut",
    manifold: "cut rates",
  },
  above: Number.NEGATIVE_INFINITY,
  upTo: -12.5,
};
const NO_HOLD: VenueTexts = {
  kalshi: "NOT maintain the current rate",
  polymarket: "changes interest rates",
  limitless: "any rate change",
  manifold: "change rates",
};
const HOLD_POSITION = 2;

/** Creates a Fed decision. The outcomes are ranges of one number, so a cut and an increase are not both likely. */
export const createFedDecisionEvent: Template = (input, close) => {
  const { month, year } = close;
  const ask = (phrases: VenueTexts): VenueTexts => ({
    kalshi: `Will the Federal Reserve ${phrases.kalshi} at their ${month} ${year} meeting?`,
    polymarket: `Fed ${phrases.polymarket} after ${month} ${year} meeting?`,
    limitless: `Fed ${month.slice(0, 3)} ${year} meeting: ${phrases.limitless}?`,
    manifold: `Will the Fed ${phrases.manifold} at its meeting ending ${close.longDate}?`,
  });
  const createMarket = ({ labels, phrases, above, upTo }: FedDecision, resembles: number): MarketDefinition => ({
    labels,
    questions: ask(phrases),
    rules: createRules({
      kalshi: `the Federal Reserve decides to ${phrases.kalshi.toLowerCase()} at the meeting that ends on ${close.shortDate}`,
      polymarket: `the FOMC ${phrases.polymarket} at the meeting that ends on ${close.longDate}, compared with the upper bound of the target range before it`,
      limitless: `the FOMC statement of ${close.longDate} announces: ${phrases.limitless}`,
      manifold: `the Fed decides to ${phrases.manifold} at the meeting that ends on ${close.fullDates.manifold}`,
    }),
    strike: null,
    criterion: { kind: "range", above, upTo },
    resembles,
  });
  const event: EventDefinition = {
    category: "Economics",
    identity: `FED ${close.longDate}`,
    series: "FED",
    seriesTitle: "Fed decision",
    tags: ["Fed", "Interest rates"],
    source: "https://www.federalreserve.gov",
    mutuallyExclusive: true,
    exhaustive: true,
    ladder: false,
    model: { kind: "numeric", mean: -8 + 7 * gaussian(input.seed, input.underlying, 106), deviation: 14 },
    titles: {
      kalshi: `Fed decision in ${month.slice(0, 3)} ${year}?`,
      polymarket: `Fed decision in ${month}?`,
      limitless: `Fed rate decision, ${close.shortDate}`,
      manifold: `What will the Fed do at its meeting ending ${close.longDate}?`,
    },
    descriptions: createDescriptions(
      forVenues(
        (venue) =>
          `what the Federal Open Market Committee does to the upper bound of its target range at the meeting that ends on ${close.fullDates[venue]}`,
      ),
    ),
    markets: FED_DECISIONS.map(createMarket),
  };
  const listTraps = () => {
    const hold = FED_DECISIONS[HOLD_POSITION] ?? ANY_CUT;
    const change = createMarket({ ...hold, phrases: NO_HOLD }, HOLD_POSITION);
    const criterion = { kind: "not", criterion: { kind: "range", above: hold.above, upTo: hold.upTo } } as const;
    return [
      sharedTrap("bucket", createSingleEvent(event, "FEDCUT", createMarket(ANY_CUT, 1))),
      sharedTrap("polarity", createSingleEvent(event, "FEDCHANGE", { ...change, criterion })),
    ];
  };
  return { ...event, traps: listTraps };
};

export const createInflationEvent: Template = (input, close) => {
  const createSpec = (isCore: boolean): NumberSpec => {
    const core = isCore ? "Core " : "";
    const index = isCore ? "CPI-U less food and energy" : "CPI-U";
    return {
      category: "Economics",
      identity: `${core}CPI ${close.longDate}`,
      series: isCore ? "CPICOREYOY" : "CPIYOY",
      seriesTitle: `${core}CPI year over year`,
      tags: ["Inflation", "CPI"],
      source: "https://www.bls.gov/cpi",
      titles: {
        kalshi: `${core}CPI year over year, release of ${close.shortDate}?`,
        polymarket: `${isCore ? "Core US" : "US"} inflation in the ${close.month} ${close.year} report?`,
        limitless: `${close.shortDate}: US ${core}Inflation - Annual`,
        manifold: `US ${core}CPI inflation (YoY) in the report of ${close.longDate}`,
      },
      subject: forVenues(
        (venue) => `the twelve-month change of ${index} as first published on ${close.fullDates[venue]}`,
      ),
      number: { center: 2.5 + 0.4 * draw(input, 3), deviation: 0.18, step: 0.1, count: 6 },
      shape: "ladder",
      format: (percent) => `${percent.toFixed(Number.isInteger(Math.round(percent * 1e6) / 1e5) ? 1 : 2)}%`,
      question: (predicate, venue) =>
        ({
          kalshi: `Will the rate of ${core}CPI inflation be ${predicate} for the year, as released ${close.shortDate}?`,
          polymarket: `Will annual ${core.toLowerCase()}inflation be ${predicate} in the ${close.monthAndDay} report?`,
          limitless: `US ${core}inflation YoY ${predicate} (${close.shortDate} release)?`,
          manifold: `Will ${core}CPI have risen ${predicate} over twelve months in the ${close.longDate} report?`,
        })[venue],
      condition: (predicate, venue) =>
        ({
          kalshi: `the twelve-month percent change of ${index} published on ${close.shortDate} is ${predicate}`,
          polymarket: `the 12-month percentage change of ${index}, not seasonally adjusted, is ${predicate} according to the BLS report of ${close.longDate}`,
          limitless: `annual inflation by ${index} in the report published on ${close.longDate} is ${predicate}`,
          manifold: `the BLS first reports a year-over-year change of ${index} that is ${predicate} on ${close.fullDates.manifold}`,
        })[venue],
      note: "later revisions do not count",
    };
  };
  return createWithTrap("measure", createSpec, (spec) => createNumberEvent(input, spec));
};

export const createPayrollsEvent: Template = (input, close) => {
  const createSpec = (isPrivate: boolean): NumberSpec => {
    const jobs = isPrivate ? "private sector jobs" : "jobs";
    const payrolls = isPrivate ? "private payroll employment" : "total nonfarm payroll employment";
    return {
      category: "Economics",
      identity: `${jobs} ${close.longDate}`,
      series: isPrivate ? "PRIVATEJOBS" : "PAYROLLS",
      seriesTitle: "Jobs report",
      tags: ["Jobs"],
      source: "https://www.bls.gov/ces",
      titles: {
        kalshi: `${isPrivate ? "Private jobs" : "Jobs"} added in the report of ${close.shortDate}?`,
        polymarket: `How many ${jobs} added (${close.month} report)?`,
        limitless: `${isPrivate ? "Private" : "Nonfarm"} payrolls ${close.shortDate}`,
        manifold: `${isPrivate ? "Private" : "Nonfarm"} payrolls in the ${close.longDate} jobs report`,
      },
      subject: forVenues((venue) => `the change of ${payrolls} as first published on ${close.fullDates[venue]}`),
      number: { center: 60_000 + 90_000 * draw(input, 4), deviation: 55_000, step: 25_000, count: 5 },
      shape: "ladder",
      format: (count, venue) =>
        venue === "polymarket" || venue === "limitless" ? `${count / 1_000}k` : formatNumber(count),
      question: (predicate, venue) =>
        ({
          kalshi: `Will the number of ${jobs} added be ${predicate}, as reported ${close.shortDate}?`,
          polymarket: `Will US ${jobs} growth be ${predicate} in the ${close.monthAndDay} report?`,
          limitless: `US adds ${predicate} ${jobs} (${close.shortDate})?`,
          manifold: `Will the change in ${jobs} be ${predicate} in the ${close.longDate} jobs report?`,
        })[venue],
      condition: (predicate, venue) =>
        ({
          kalshi: `the change of ${payrolls} published on ${close.shortDate} is ${predicate}`,
          polymarket: `the Employment Situation report of ${close.longDate} shows a change of ${payrolls} that is ${predicate}`,
          limitless: `the monthly change of ${payrolls} is ${predicate} in the report published on ${close.longDate}`,
          manifold: `the first estimate of the change of ${payrolls}, published on ${close.fullDates.manifold}, is ${predicate}`,
        })[venue],
    };
  };
  return createWithTrap("measure", createSpec, (spec) => createNumberEvent(input, spec));
};
