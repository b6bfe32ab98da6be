import { createDateTexts, createVenueTexts, DAY_MS, draw, pick, type Template } from "./event-definition.ts";
import { COUNTRIES } from "./politics.ts";

const HOUR_MS = 3_600_000;
const PRODUCTS = [
  "a foundation model with a new version number",
  "a consumer robot",
  "a foldable phone",
  "an AR headset",
  "a self-driving ride service in a new city",
];
const COMPANIES = "OpenAI, Apple, Google, Meta, Tesla, Anthropic, Nvidia, Amazon".split(", ");
const POLITICAL_EVENTS = [
  "a ceasefire agreement be signed",
  "the trade agreement be ratified",
  "the government be shut down",
  "the treaty be suspended",
  "the central bank governor leave office",
  "a state of emergency be declared",
];

/** Creates an event "Will … by …?" about a product release or a political event, with one market per deadline. */
export const createDeadlineEvent: Template = (input) => {
  const isTech = draw(input, 18) < 0.5;
  const country = pick(COUNTRIES, input, 19);
  const politicalEvent = pick(POLITICAL_EVENTS, input, 20);
  const company = pick(COMPANIES, input, 21);
  const product = pick(PRODUCTS, input, 22);
  const durationMs = input.closeAt - input.openAt;
  const question = isTech ? `Will ${company} release ${product}` : `Will ${politicalEvent} in ${country}`;
  /** Deadlines as shares of the duration. */
  const shares = durationMs > 10 * DAY_MS ? [0.4, 0.7, 1] : [1];
  return {
    series: isTech
      ? `${company.slice(0, 6).toUpperCase()}REL`
      : `${country.slice(0, 4).toUpperCase()}${politicalEvent.split(" ").at(-1)?.slice(0, 3).toUpperCase()}`,
    seriesTitle: isTech ? `${company} releases` : `News from ${country}`,
    category: isTech ? "Tech" : "Politics",
    tags: isTech ? ["Tech", company] : ["World", country],
    frequency: "one_off",
    mutuallyExclusive: false,
    exhaustive: false,
    ladder: shares.length > 1,
    source: "credible reporting",
    model: { kind: "hazard", perDay: (0.3 + 1.2 * draw(input, 23)) / (durationMs / DAY_MS) },
    titles: {
      kalshi: `${question} before...?`,
      polymarket: `${question} by...?`,
      limitless: `${question}?`,
      manifold: `${question} by the following dates?`,
    },
    description: `${question} by a stated date.`,
    markets: shares.map((share) => {
      const deadline =
        share === 1 ? input.closeAt : input.openAt + Math.round((share * durationMs) / HOUR_MS) * HOUR_MS;
      const date = createDateTexts(deadline);
      return {
        label: `By ${date.longDate}`,
        questions: createVenueTexts(`${question} by ${date.monthAndDay}, ${date.year}?`, {
          kalshi: `${question} before ${date.longDate}, ${date.time}?`,
          manifold: `${question} by ${date.longDate}?`,
        }),
        rules: `Resolves YES if it happens by ${date.time} on ${date.longDate}, according to credible reporting. It is enough that it happens once.`,
        strike: null,
        criterion: { kind: "before", deadline },
      };
    }),
  };
};
