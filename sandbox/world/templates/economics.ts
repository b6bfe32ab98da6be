import { gaussian } from "../random.ts";
import { createThresholdEvent, createVenueTexts, draw, type Template } from "./event-definition.ts";

const ECONOMICS = { category: "Economics", frequency: "monthly" } as const;

/** Changes of the target range in basis points. Each outcome covers the changes above the previous one's `upTo`. */
const FED_DECISIONS = [
  { label: "50+ bps decrease", upTo: -37.5 },
  { label: "25 bps decrease", upTo: -12.5 },
  { label: "No change", upTo: 12.5 },
  { label: "25+ bps increase", upTo: Number.POSITIVE_INFINITY },
] as const;

/** The outcomes are ranges of one number, so that a likely increase and a likely large decrease exclude each other. */
export const createFedDecisionEvent: Template = (input, close) => ({
  ...ECONOMICS,
  series: "FED",
  seriesTitle: "Fed decision",
  tags: ["Fed", "Interest rates"],
  source: "https://www.federalreserve.gov",
  mutuallyExclusive: true,
  exhaustive: true,
  ladder: false,
  model: { kind: "numeric", mean: -8 + 7 * gaussian(input.seed, input.underlying, 106), deviation: 14 },
  titles: {
    kalshi: `Fed decision in ${close.month} ${close.year}?`,
    polymarket: `Fed decision in ${close.month}?`,
    limitless: `Fed rate decision, ${close.shortDate}`,
    manifold: `What will the Fed do at its meeting ending ${close.longDate}?`,
  },
  description: `What the Federal Open Market Committee does to the upper bound of its target range at the meeting that ends on ${close.longDate}.`,
  markets: FED_DECISIONS.map(({ label, upTo }, position) => ({
    label,
    questions: createVenueTexts(`${label} at the Fed meeting of ${close.shortDate}?`, {
      kalshi: `Will the Fed's decision on ${close.longDate} be: ${label}?`,
      polymarket: `Fed: ${label} after ${close.month} ${close.year} meeting?`,
    }),
    rules: `Resolves YES if the upper bound of the target federal funds rate changes as follows at the meeting ending ${close.longDate}: ${label}. The source is the statement of the Federal Open Market Committee.`,
    strike: null,
    criterion: { kind: "range", above: FED_DECISIONS[position - 1]?.upTo ?? Number.NEGATIVE_INFINITY, upTo },
  })),
});

export const createInflationEvent: Template = (input, close) =>
  createThresholdEvent(input, {
    ...ECONOMICS,
    series: "CPIYOY",
    seriesTitle: "CPI year over year",
    tags: ["Inflation", "CPI"],
    source: "https://www.bls.gov/cpi",
    titles: {
      kalshi: `CPI year over year, release of ${close.shortDate}?`,
      polymarket: `US inflation in the ${close.month} ${close.year} report?`,
      limitless: `US CPI YoY, ${close.shortDate}`,
      manifold: `US CPI inflation (YoY) in the report of ${close.longDate}`,
    },
    description: `The twelve-month change of the CPI for all urban consumers as first published on ${close.longDate}.`,
    number: { center: 2.5 + 0.4 * draw(input, 3), deviation: 0.18, step: 0.1, count: 6 },
    format: (percent) => `${percent.toFixed(1)}%`,
    questions: (percent) =>
      createVenueTexts(`US CPI YoY above ${percent} on ${close.shortDate}?`, {
        kalshi: `Will CPI rise more than ${percent} in the year, as released ${close.longDate}?`,
        polymarket: `Will annual inflation be above ${percent} in the ${close.monthAndDay} report?`,
      }),
    rules: (percent) =>
      `Resolves YES if the twelve-month percent change of CPI-U, not seasonally adjusted, as first published on ${close.longDate}, is above ${percent}. Later revisions do not count.`,
  });

export const createPayrollsEvent: Template = (input, close) =>
  createThresholdEvent(input, {
    ...ECONOMICS,
    series: "PAYROLLS",
    seriesTitle: "Jobs report",
    tags: ["Jobs"],
    source: "https://www.bls.gov/ces",
    titles: {
      kalshi: `Jobs added in the report of ${close.shortDate}?`,
      polymarket: `How many jobs added (${close.month} report)?`,
      limitless: `Nonfarm payrolls ${close.shortDate}`,
      manifold: `Nonfarm payrolls in the ${close.longDate} jobs report`,
    },
    description: `Change of total nonfarm payroll employment as first published on ${close.longDate}.`,
    number: { center: 60_000 + 90_000 * draw(input, 4), deviation: 55_000, step: 25_000, count: 5 },
    format: (jobs) => jobs.toLocaleString("en-US"),
    questions: (jobs) =>
      createVenueTexts(`Payrolls above ${jobs} on ${close.shortDate}?`, {
        kalshi: `Will more than ${jobs} jobs be added, as reported ${close.longDate}?`,
        polymarket: `Will the US add more than ${jobs} jobs in the ${close.monthAndDay} report?`,
      }),
    rules: (jobs) =>
      `Resolves YES if the first published change of nonfarm payrolls on ${close.longDate} is above ${jobs}.`,
  });
