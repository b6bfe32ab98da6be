import { DAY_MS, HOUR_MS } from "../../../src/lib/durations.ts";
import type { ResolutionCriterion } from "../truth.ts";
import {
  createDateTexts,
  createDescriptions,
  createRules,
  draw,
  type EventDefinition,
  forVenues,
  pick,
  pickOther,
  separateTrap,
  sharedTrap,
  type Template,
  TRAP_NUMBER_OFFSET,
  type TrapDefinition,
} from "./event-definition.ts";
import { COUNTRIES } from "./politics.ts";

/** Delay of the deadlines of a date trap, as a share of the duration of the event. */
const LATER_SHARE = 0.3;

const PRODUCTS = [
  ...["a foundation model with a new version number", "a consumer robot", "a foldable phone", "an AR headset"],
  ...["a self-driving ride service in a new city", "a smart ring", "a chip for inference", "an app store for agents"],
  ...["a home battery", "a satellite phone plan", "a music generator", "a translation earbud"],
];
const COMPANIES =
  "OpenAI, Apple, Google, Meta, Tesla, Anthropic, Nvidia, Amazon, Samsung, Microsoft, Sony, Xiaomi, Mistral, Intel".split(
    ", ",
  );
interface PoliticalEvent {
  readonly subject: string;
  readonly verb: string;
  /** As a headline: "ceasefire agreement signed". */
  readonly headline: string;
  readonly noun: string;
}

const political = (subject: string, verb: string, headline: string, noun: string): PoliticalEvent => ({
  subject,
  verb,
  headline,
  noun,
});
const POLITICAL_EVENTS: readonly PoliticalEvent[] = [
  political("a ceasefire agreement", "be signed", "ceasefire agreement signed", "a ceasefire agreement"),
  political(
    "the trade agreement",
    "be ratified",
    "trade agreement ratified",
    "the ratification of the trade agreement",
  ),
  political("the government", "be shut down", "government shutdown", "a government shutdown"),
  political("the treaty", "be suspended", "treaty suspended", "the suspension of the treaty"),
  political("the central bank governor", "leave office", "central bank governor out", "the governor's departure"),
  political("a state of emergency", "be declared", "state of emergency declared", "a state of emergency"),
  political("a snap election", "be called", "snap election called", "a snap election"),
  political("the capital gains tax", "be raised", "capital gains tax raised", "a higher capital gains tax"),
];

/** The phrases of one question, without its deadline. */
interface Phrases {
  readonly identity: string;
  readonly series: string;
  readonly seriesTitle: string;
  readonly tags: readonly string[];
  readonly subject: string;
  readonly verb: string;
  /** Place at the end of a sentence, with a space before it; empty if there is none. */
  readonly place: string;
  readonly headline: string;
  readonly oppositeHeadline: string;
  readonly announced: { readonly subject: string; readonly verb: string; readonly headline: string };
}

function techPhrases(company: string, product: string): Phrases {
  return {
    identity: `${company} releases ${product}`,
    series: `${company.slice(0, 6).toUpperCase()}REL`,
    seriesTitle: `${company} releases`,
    tags: ["Tech", company],
    subject: company,
    verb: `release ${product}`,
    place: "",
    headline: `${company} releases ${product}`,
    oppositeHeadline: `${company} does not release ${product}`,
    announced: { subject: company, verb: `announce ${product}`, headline: `${company} announces ${product}` },
  };
}

function politicalPhrases(country: string, { subject, verb, headline, noun }: PoliticalEvent): Phrases {
  return {
    identity: `${headline} in ${country}`,
    series: `${country.slice(0, 4).toUpperCase()}${headline.slice(0, 3).toUpperCase()}`,
    seriesTitle: `News from ${country}`,
    tags: ["World", country],
    subject,
    verb,
    place: ` in ${country}`,
    headline: `${country}: ${headline}`,
    oppositeHeadline: `${country}: no ${headline}`,
    announced: { subject: noun, verb: "be announced", headline: `${country}: ${noun} announced` },
  };
}

/** "be signed" becomes "is signed", "release a phone" becomes "releases a phone". */
const affirm = (verb: string): string => (verb.startsWith("be ") ? `is ${verb.slice(3)}` : verb.replace(/^\w+/, "$&s"));
const negate = (verb: string): string => (verb.startsWith("be ") ? `is not ${verb.slice(3)}` : `does not ${verb}`);

type Variant = "plain" | "not" | "announced" | "race" | "placeholder";

/** Creates an event "Will … by …?" about a product release or a political event, with one market per deadline. */
export const createDeadlineEvent: Template = (input) => {
  const isTech = draw(input, 18) < 0.5;
  const country = pick(COUNTRIES, input, 19);
  const politicalEvent = pick(POLITICAL_EVENTS, input, 20);
  const company = pick(COMPANIES, input, 21);
  const product = pick(PRODUCTS, input, 22);
  const durationMs = input.closeAt - input.openAt;
  const phrases = isTech ? techPhrases(company, product) : politicalPhrases(country, politicalEvent);
  const rivalCompany = pickOther(COMPANIES, company, input, 26);
  const rivalCountry = pickOther(COUNTRIES, country, input, 27);
  const rivalPhrases = isTech ? techPhrases(rivalCompany, product) : politicalPhrases(rivalCountry, politicalEvent);
  const rivalText = isTech ? `before ${rivalCompany} does` : `before it happens in ${rivalCountry}`;
  const perDay = (0.3 + 1.2 * draw(input, 23)) / (durationMs / DAY_MS);
  /** Deadlines as shares of the duration. */
  const shares = durationMs > 10 * DAY_MS ? [0.4, 0.7, 1] : [1];
  const deadlines = shares.map((share) =>
    share === 1 ? input.closeAt : input.openAt + Math.round((share * durationMs) / HOUR_MS) * HOUR_MS,
  );
  const source = "credible reporting";

  const createEvent = (
    texts: Phrases,
    variant: Variant,
    times: readonly number[],
    criterionAt: (deadline: number) => ResolutionCriterion,
  ): EventDefinition => {
    const isAnnounced = variant === "announced";
    const { subject, verb, headline } = isAnnounced ? texts.announced : texts;
    const not = variant === "not" ? "NOT " : "";
    const race = variant === "race" ? ` ${rivalText}` : "";
    const will = `Will ${subject} ${not}${verb}${texts.place}${race}`;
    const short = not === "" ? `${headline}${race}` : texts.oppositeHeadline;
    const titles = {
      kalshi: `${will}?`,
      polymarket: `${short} by...?`,
      limitless: `${short}?`,
      manifold: `${will} by the following dates?`,
    };
    return {
      identity: texts.identity,
      series: `${texts.series}${variant === "plain" ? "" : variant.slice(0, 3).toUpperCase()}`,
      seriesTitle: texts.seriesTitle,
      category: isTech ? "Tech" : "Politics",
      tags: texts.tags,
      mutuallyExclusive: false,
      exhaustive: false,
      ladder: times.length > 1,
      source,
      model: { kind: "hazard", perDay },
      titles,
      descriptions: createDescriptions(
        forVenues((venue) => `${venue === "kalshi" ? "" : "whether it happens by a stated date: "}${short}`),
      ),
      markets: times.map((deadline, position) => {
        const date = createDateTexts(deadline);
        const { dates, fullDates, times: clocks } = date;
        const isBlank = variant === "placeholder";
        const until = forVenues((venue) => (isBlank ? "{deadline}" : `${clocks[venue]} on ${fullDates[venue]}`));
        const day = forVenues((venue) => (isBlank ? "___" : dates[venue]));
        const clause = `${subject} ${not === "" ? affirm(verb) : negate(verb)}${texts.place}${race}`;
        const announcement = isAnnounced ? ". An official announcement is enough" : "";
        return {
          labels: {
            kalshi: `Before ${day.kalshi}`,
            polymarket: day.polymarket,
            limitless: `By ${day.limitless}`,
            // Manifold has no rules per answer, so the text of an answer includes the time.
            manifold: `By ${day.manifold}${isBlank ? "" : `, ${clocks.manifold}`}`,
          },
          questions: {
            kalshi: `${will} before ${isBlank ? "___" : `${dates.kalshi}, ${clocks.kalshi}`}?`,
            polymarket: `${short} by ${day.polymarket}?`,
            limitless: `${short} by ${day.limitless}?`,
            manifold: `${will} by ${day.manifold}?`,
          },
          rules: createRules({
            kalshi: `${clause} before ${until.kalshi}${announcement}`,
            polymarket: `${clause} by ${until.polymarket}, according to a consensus of ${source}${announcement}`,
            limitless: `by ${until.limitless} ${clause}, as reported by credible media${announcement}`,
            manifold: `${clause} by ${until.manifold}, once is enough${announcement}`,
          }),
          strike: null,
          criterion: criterionAt(deadline),
          // A placeholder replaces the last deadline.
          resembles: position + deadlines.length - times.length,
        };
      }),
    };
  };
  const before = (deadline: number) => ({ kind: "before", deadline }) as const;
  const event = createEvent(phrases, "plain", deadlines, before);

  const listTraps = (): TrapDefinition[] => {
    const { seed, underlying, openAt } = input;
    const number = underlying + TRAP_NUMBER_OFFSET;
    const other = { seed, underlying: number, model: event.model, openAt, revealAt: input.closeAt } as const;
    const dayEnds = deadlines.map((deadline) => (Math.floor(deadline / DAY_MS) + 1) * DAY_MS);
    const laterMs = Math.max(DAY_MS, Math.round((LATER_SHARE * durationMs) / DAY_MS) * DAY_MS);
    const later = deadlines.map((deadline) => deadline + laterMs);
    return [
      { ...sharedTrap("window", createWindowEvent(event, dayEnds)), closeAt: Math.max(...dayEnds) },
      { ...sharedTrap("date", createEvent(phrases, "plain", later, before)), closeAt: Math.max(...later) },
      sharedTrap(
        "announcement",
        createEvent(phrases, "announced", deadlines, (deadline) => ({ kind: "either", deadline, other })),
      ),
      sharedTrap(
        "race",
        createEvent(phrases, "race", deadlines, (deadline) => ({ kind: "first", deadline, other })),
      ),
      sharedTrap(
        "polarity",
        createEvent(phrases, "not", deadlines, (deadline) => ({ kind: "not", criterion: before(deadline) })),
      ),
      sharedTrap(
        "placeholder",
        createEvent(phrases, "placeholder", deadlines.slice(-1), () => before(input.closeAt - HOUR_MS)),
      ),
      separateTrap("candidate", createEvent(rivalPhrases, "plain", deadlines, before)),
    ];
  };
  return { ...event, traps: listTraps };
};

/** Creates the same event with deadlines at the end of the day, and texts without a time of day. */
function createWindowEvent(event: EventDefinition, dayEnds: readonly number[]): EventDefinition {
  return {
    ...event,
    markets: event.markets.map((market, position) => {
      const deadline = dayEnds[position] ?? 0;
      const { dates, fullDates } = createDateTexts(deadline);
      const lastDay = createDateTexts(deadline - 1);
      return {
        ...market,
        labels: {
          ...market.labels,
          kalshi: `Before ${dates.kalshi}`,
          manifold: `By the end of ${lastDay.dates.manifold} (UTC)`,
        },
        questions: { ...market.questions, kalshi: `${event.titles.kalshi.slice(0, -1)} before ${dates.kalshi}?` },
        rules: createRules({
          kalshi: `the event in the title happens before ${fullDates.kalshi}, 12:00 AM UTC`,
          polymarket: `the event in the title happens by ${lastDay.fullDates.polymarket}, 11:59 PM UTC`,
          limitless: `the event in the title happens no later than the end of ${lastDay.fullDates.limitless} (UTC)`,
          manifold: `the event in the title happens before ${fullDates.manifold} (UTC)`,
        }),
        criterion: { kind: "before", deadline },
      };
    }),
  };
}
