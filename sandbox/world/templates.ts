import { gaussian, hashKeys, sigmoid, uniform } from "./random.ts";
import type { Claim, Truth } from "./truth.ts";
import type { ListedEvent, SandboxVenue, Strike } from "./types.ts";

/** A real-world event before any venue lists it: its truth, and the words each venue has for it. */
export interface Blueprint {
  readonly series: string;
  readonly seriesTitle: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly frequency: ListedEvent["frequency"];
  readonly mutuallyExclusive: boolean;
  readonly exhaustive: boolean;
  readonly ladder: boolean;
  readonly source: string;
  readonly truth: Truth;
  readonly titles: Readonly<Record<SandboxVenue, string>>;
  readonly description: string;
  readonly markets: readonly BlueprintMarket[];
}

export interface BlueprintMarket {
  readonly label: string;
  readonly questions: Readonly<Record<SandboxVenue, string>>;
  readonly rules: string;
  readonly strike: Strike | null;
  readonly claim: Claim;
}

/** The event's key, opening and close: all that a template may use besides its own words. */
export interface Occasion {
  readonly seed: number;
  readonly underlying: number;
  readonly openAt: number;
  readonly closeAt: number;
}

type Template = (occasion: Occasion) => Blueprint;

const DAY_MS = 86_400_000;
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

const pick = <T>(items: readonly T[], occasion: Occasion, salt: number): T => {
  const item = items[hashKeys(occasion.seed, occasion.underlying, 100, salt) % items.length];
  if (item === undefined) throw new Error("picked from an empty list");
  return item;
};

const draw = (occasion: Occasion, salt: number) => uniform(occasion.seed, occasion.underlying, 101, salt);

/** "December 5, 2026" and its shorter sisters, always in UTC. */
function dates(at: number): { long: string; noYear: string; short: string; month: string; year: number; time: string } {
  const date = new Date(at);
  const month = MONTHS[date.getUTCMonth()] ?? "";
  const day = date.getUTCDate();
  const year = date.getUTCFullYear();
  const time = `${String(date.getUTCHours()).padStart(2, "0")}:${String(date.getUTCMinutes()).padStart(2, "0")} UTC`;
  return {
    long: `${month} ${day}, ${year}`,
    noYear: `${month} ${day}`,
    short: `${month.slice(0, 3)} ${day}, ${year}`,
    month,
    year,
    time,
  };
}

/** Priors that sum to 1, from Gaussian strengths. */
function priors(occasion: Occasion, count: number, spread: number): number[] {
  const weights = Array.from({ length: count }, (_, index) =>
    Math.exp(spread * gaussian(occasion.seed, occasion.underlying, 102, index)),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

const sameTitle = (title: string): Record<SandboxVenue, string> => ({
  kalshi: title,
  polymarket: title,
  limitless: title,
  manifold: title,
});

/** One question that is either true or not. */
function binary(
  occasion: Occasion,
  facts: Omit<Blueprint, "markets" | "truth" | "mutuallyExclusive" | "exhaustive" | "ladder">,
  rules: string,
): Blueprint {
  const prior = sigmoid(0.15 + 1.3 * gaussian(occasion.seed, occasion.underlying, 103));
  return {
    ...facts,
    mutuallyExclusive: false,
    exhaustive: false,
    ladder: false,
    truth: { kind: "categorical", priors: [prior, 1 - prior], strength: 1.2 + draw(occasion, 1) },
    markets: [{ label: "Yes", questions: facts.titles, rules, strike: null, claim: { kind: "outcome", index: 0 } }],
  };
}

/** One of several named outcomes; `isComplete` says whether the named ones are all there are. */
function choice(
  occasion: Occasion,
  facts: Omit<Blueprint, "markets" | "truth" | "mutuallyExclusive" | "exhaustive" | "ladder">,
  names: readonly string[],
  isComplete: boolean,
  question: (name: string, venue: SandboxVenue) => string,
  rules: (name: string) => string,
): Blueprint {
  const weights = priors(occasion, names.length + (isComplete ? 0 : 1), 1);
  return {
    ...facts,
    mutuallyExclusive: true,
    exhaustive: isComplete,
    ladder: false,
    truth: { kind: "categorical", priors: weights, strength: 1 + draw(occasion, 2) },
    markets: names.map((name, index) => ({
      label: name,
      questions: {
        kalshi: question(name, "kalshi"),
        polymarket: question(name, "polymarket"),
        limitless: question(name, "limitless"),
        manifold: question(name, "manifold"),
      },
      rules: rules(name),
      strike: null,
      claim: { kind: "outcome", index },
    })),
  };
}

interface LadderWords {
  readonly format: (value: number) => string;
  readonly question: (value: string, venue: SandboxVenue) => string;
  readonly rules: (value: string) => string;
}

/** "Above x?" for several x of one published number. */
function thresholds(
  occasion: Occasion,
  facts: Omit<Blueprint, "markets" | "truth" | "mutuallyExclusive" | "exhaustive" | "ladder">,
  number: { readonly center: number; readonly deviation: number; readonly step: number; readonly count: number },
  words: LadderWords,
): Blueprint {
  const { step, count } = number;
  const middle = Math.round(number.center / step);
  const mean = (middle + gaussian(occasion.seed, occasion.underlying, 104) * 0.8) * step;
  return {
    ...facts,
    mutuallyExclusive: false,
    exhaustive: false,
    ladder: true,
    truth: { kind: "numeric", mean, deviation: number.deviation },
    markets: Array.from({ length: count }, (_, position) => {
      const floor = Number(((middle + position - Math.floor(count / 2)) * step).toFixed(6));
      const value = words.format(floor);
      return {
        label: `Above ${value}`,
        questions: {
          kalshi: words.question(value, "kalshi"),
          polymarket: words.question(value, "polymarket"),
          limitless: words.question(value, "limitless"),
          manifold: words.question(value, "manifold"),
        },
        rules: words.rules(value),
        strike: { type: "greater", floor, cap: null },
        claim: { kind: "range", above: floor, upTo: Number.POSITIVE_INFINITY },
      } satisfies BlueprintMarket;
    }),
  };
}

const CITIES = [
  "New York",
  "Chicago",
  "Miami",
  "Austin",
  "Denver",
  "Los Angeles",
  "Philadelphia",
  "Seattle",
  "London",
  "Tokyo",
] as const;
const BASKETBALL = [
  "Boston Celtics",
  "Denver Nuggets",
  "Oklahoma City Thunder",
  "New York Knicks",
  "Cleveland Cavaliers",
  "Minnesota Timberwolves",
  "Dallas Mavericks",
  "Los Angeles Lakers",
  "Milwaukee Bucks",
  "Houston Rockets",
  "Orlando Magic",
  "Golden State Warriors",
] as const;
const FOOTBALL = [
  "Arsenal",
  "Liverpool",
  "Manchester City",
  "Chelsea",
  "Tottenham",
  "Newcastle",
  "Aston Villa",
  "Brighton",
  "Everton",
  "Fulham",
  "Brentford",
  "Crystal Palace",
] as const;
const COUNTRIES = [
  "Chile",
  "Portugal",
  "Peru",
  "Colombia",
  "Czechia",
  "Hungary",
  "Ecuador",
  "Croatia",
  "Slovenia",
  "Iceland",
] as const;
const CANDIDATES = [
  "A. Moreno",
  "L. Varga",
  "T. Okafor",
  "S. Lindqvist",
  "J. Castellanos",
  "R. Benes",
  "M. Duarte",
  "K. Halvorsen",
] as const;
const FILMS = [
  "The Salt Line",
  "Northern Glass",
  "Paper Rivers",
  "A Quiet Orbit",
  "Harvest of Stone",
  "Second Meridian",
  "The Cartographer",
  "Low Tide",
] as const;
const PRODUCTS = [
  "a foundation model with a new version number",
  "a consumer robot",
  "a foldable phone",
  "an AR headset",
  "a self-driving ride service in a new city",
] as const;
const COMPANIES = ["OpenAI", "Apple", "Google", "Meta", "Tesla", "Anthropic", "Nvidia", "Amazon"] as const;
const DEEDS = [
  "a ceasefire agreement be signed",
  "the trade agreement be ratified",
  "the government be shut down",
  "the treaty be suspended",
  "the central bank governor leave office",
  "a state of emergency be declared",
] as const;
const COINS = [
  { name: "Bitcoin", ticker: "BTC", price: 96_000, step: 1_000 },
  { name: "Ethereum", ticker: "ETH", price: 3_400, step: 50 },
  { name: "Solana", ticker: "SOL", price: 190, step: 5 },
] as const;

const fed: Template = (occasion) => {
  const when = dates(occasion.closeAt);
  const facts = {
    series: "FED",
    seriesTitle: "Fed decision",
    category: "Economics",
    tags: ["Fed", "Interest rates"],
    frequency: "monthly" as const,
    source: "https://www.federalreserve.gov",
    titles: {
      kalshi: `Fed decision in ${when.month} ${when.year}?`,
      polymarket: `Fed decision in ${when.month}?`,
      limitless: `Fed rate decision, ${when.short}`,
      manifold: `What will the Fed do at its meeting ending ${when.long}?`,
    },
    description: `What the Federal Open Market Committee does to the upper bound of its target range at the meeting that ends on ${when.long}.`,
  };
  const names = ["50+ bps decrease", "25 bps decrease", "No change", "25+ bps increase"];
  return choice(
    occasion,
    facts,
    names,
    true,
    (name, venue) =>
      venue === "kalshi"
        ? `Will the Fed's decision on ${when.long} be: ${name}?`
        : venue === "polymarket"
          ? `Fed: ${name} after ${when.month} ${when.year} meeting?`
          : `${name} at the Fed meeting of ${when.short}?`,
    (name) =>
      `Resolves YES if the upper bound of the target federal funds rate changes as follows at the meeting ending ${when.long}: ${name}. The source is the statement of the Federal Open Market Committee.`,
  );
};

const inflation: Template = (occasion) => {
  const when = dates(occasion.closeAt);
  const facts = {
    series: "CPIYOY",
    seriesTitle: "CPI year over year",
    category: "Economics",
    tags: ["Inflation", "CPI"],
    frequency: "monthly" as const,
    source: "https://www.bls.gov/cpi",
    titles: {
      kalshi: `CPI year over year, release of ${when.short}?`,
      polymarket: `US inflation in the ${when.month} ${when.year} report?`,
      limitless: `US CPI YoY, ${when.short}`,
      manifold: `US CPI inflation (YoY) in the report of ${when.long}`,
    },
    description: `The twelve-month change of the CPI for all urban consumers as first published on ${when.long}.`,
  };
  return thresholds(
    occasion,
    facts,
    { center: 2.4 + draw(occasion, 3), deviation: 0.18, step: 0.1, count: 6 },
    {
      format: (value) => `${value.toFixed(1)}%`,
      question: (value, venue) =>
        venue === "kalshi"
          ? `Will CPI rise more than ${value} in the year, as released ${when.long}?`
          : venue === "polymarket"
            ? `Will annual inflation be above ${value} in the ${when.noYear} report?`
            : `US CPI YoY above ${value} on ${when.short}?`,
      rules: (value) =>
        `Resolves YES if the twelve-month percent change of CPI-U, not seasonally adjusted, as first published on ${when.long}, is above ${value}. Later revisions do not count.`,
    },
  );
};

const payrolls: Template = (occasion) => {
  const when = dates(occasion.closeAt);
  const facts = {
    series: "PAYROLLS",
    seriesTitle: "Jobs report",
    category: "Economics",
    tags: ["Jobs"],
    frequency: "monthly" as const,
    source: "https://www.bls.gov/ces",
    titles: {
      kalshi: `Jobs added in the report of ${when.short}?`,
      polymarket: `How many jobs added (${when.month} report)?`,
      limitless: `Nonfarm payrolls ${when.short}`,
      manifold: `Nonfarm payrolls in the ${when.long} jobs report`,
    },
    description: `Change of total nonfarm payroll employment as first published on ${when.long}.`,
  };
  return thresholds(
    occasion,
    facts,
    { center: 60_000 + 90_000 * draw(occasion, 4), deviation: 55_000, step: 25_000, count: 5 },
    {
      format: (value) => value.toLocaleString("en-US"),
      question: (value, venue) =>
        venue === "kalshi"
          ? `Will more than ${value} jobs be added, as reported ${when.long}?`
          : venue === "polymarket"
            ? `Will the US add more than ${value} jobs in the ${when.noYear} report?`
            : `Payrolls above ${value} on ${when.short}?`,
      rules: (value) =>
        `Resolves YES if the first published change of nonfarm payrolls on ${when.long} is above ${value}.`,
    },
  );
};

const coinLadder: Template = (occasion) => {
  const when = dates(occasion.closeAt);
  const coin = pick(COINS, occasion, 5);
  const days = Math.max(0.02, (occasion.closeAt - occasion.openAt) / DAY_MS);
  const facts = {
    series: coin.ticker,
    seriesTitle: `${coin.name} price`,
    category: "Crypto",
    tags: [coin.name, "Crypto"],
    frequency: days < 2 ? ("daily" as const) : ("weekly" as const),
    source: "https://data.chain.link",
    titles: {
      kalshi: `${coin.name} price on ${when.short} at ${when.time}?`,
      polymarket: `${coin.name} above ___ on ${when.noYear}, ${when.time}?`,
      limitless: `$${coin.ticker} price on ${when.short}, ${when.time}`,
      manifold: `${coin.name} price at ${when.time} on ${when.long}`,
    },
    description: `The ${coin.name} price in US dollars at ${when.time} on ${when.long}.`,
  };
  const deviation = coin.price * 0.025 * Math.sqrt(days);
  const step = coin.step * Math.max(1, Math.round(deviation / coin.step / 1.5));
  return thresholds(
    occasion,
    facts,
    { center: coin.price * (0.95 + 0.1 * draw(occasion, 6)), deviation, step, count: 5 },
    {
      format: (value) => `$${value.toLocaleString("en-US")}`,
      question: (value, venue) =>
        venue === "kalshi"
          ? `Will ${coin.name} be above ${value} at ${when.time} on ${when.long}?`
          : venue === "polymarket"
            ? `Will the price of ${coin.name} be above ${value} on ${when.noYear}, ${when.time}?`
            : venue === "limitless"
              ? `$${coin.ticker} above ${value} on ${when.short}, ${when.time}?`
              : `${coin.name} > ${value} at ${when.time} on ${when.long}?`,
      rules: (value) =>
        `Resolves YES if the ${coin.name} reference price is above ${value} at ${when.time} on ${when.long}.`,
    },
  );
};

const temperature: Template = (occasion) => {
  const when = dates(occasion.closeAt);
  const city = pick(CITIES, occasion, 7);
  const base = 40 + Math.round(40 * draw(occasion, 8));
  const facts = {
    series: `HIGH${city.replaceAll(" ", "").slice(0, 4).toUpperCase()}`,
    seriesTitle: `Highest temperature in ${city}`,
    category: "Weather",
    tags: ["Weather", city],
    frequency: "daily" as const,
    source: "https://www.weather.gov",
    titles: {
      kalshi: `Highest temperature in ${city} on ${when.short}?`,
      polymarket: `Highest temperature in ${city} on ${when.noYear}?`,
      limitless: `${city} high temperature ${when.short}`,
      manifold: `Highest temperature in ${city} on ${when.long}`,
    },
    description: `The highest temperature in ${city} on ${when.long} in the daily climate report.`,
  };
  const edges = Array.from({ length: 5 }, (_, index) => base + 2 * index);
  const mean = base + 4 + 3 * gaussian(occasion.seed, occasion.underlying, 105);
  const bins: { label: string; strike: Strike; above: number; upTo: number }[] = [
    {
      label: `${base}° or below`,
      strike: { type: "less", floor: null, cap: base + 1 },
      above: Number.NEGATIVE_INFINITY,
      upTo: base + 0.5,
    },
    ...edges.slice(0, 4).map((edge) => ({
      label: `${edge + 1}° to ${edge + 2}°`,
      strike: { type: "between" as const, floor: edge + 1, cap: edge + 2 },
      above: edge + 0.5,
      upTo: edge + 2.5,
    })),
    {
      label: `${base + 9}° or above`,
      strike: { type: "greater", floor: base + 8, cap: null },
      above: base + 8.5,
      upTo: Number.POSITIVE_INFINITY,
    },
  ];
  return {
    ...facts,
    mutuallyExclusive: true,
    exhaustive: true,
    ladder: false,
    truth: { kind: "numeric", mean, deviation: 3.2 },
    markets: bins.map((bin) => ({
      label: bin.label,
      questions: {
        ...sameTitle(`Will the highest temperature in ${city} be ${bin.label} on ${when.noYear}?`),
        kalshi: `Will the high temp in ${city} be ${bin.label} on ${when.long}?`,
      },
      rules: `Resolves YES if the highest temperature recorded in ${city} on ${when.long} is ${bin.label} Fahrenheit, rounded to whole degrees, in the first complete daily climate report.`,
      strike: bin.strike,
      claim: { kind: "range", above: bin.above, upTo: bin.upTo },
    })),
  };
};

const rain: Template = (occasion) => {
  const when = dates(occasion.closeAt);
  const city = pick(CITIES, occasion, 9);
  return binary(
    occasion,
    {
      series: `RAIN${city.replaceAll(" ", "").slice(0, 4).toUpperCase()}`,
      seriesTitle: `Rain in ${city}`,
      category: "Weather",
      tags: ["Weather", city],
      frequency: "daily",
      source: "https://www.weather.gov",
      titles: {
        kalshi: `Rain in ${city} on ${when.short}?`,
        polymarket: `Will it rain in ${city} on ${when.noYear}?`,
        limitless: `Rain in ${city} on ${when.short}?`,
        manifold: `Will it rain in ${city} on ${when.long}?`,
      },
      description: `Whether measurable rain falls in ${city} on ${when.long}.`,
    },
    `Resolves YES if at least 0.01 inch of rain is measured in ${city} on ${when.long}. A trace is not enough.`,
  );
};

const basketball: Template = (occasion) => {
  const when = dates(occasion.closeAt);
  const home = pick(BASKETBALL, occasion, 10);
  const away = pick(
    BASKETBALL.filter((team) => team !== home),
    occasion,
    11,
  );
  return binary(
    occasion,
    {
      series: "NBAGAME",
      seriesTitle: "Professional basketball game",
      category: "Sports",
      tags: ["NBA", "Basketball"],
      frequency: "daily",
      source: "https://www.nba.com",
      titles: {
        kalshi: `${away} at ${home} (${when.short}): ${home} winner?`,
        polymarket: `Will the ${home} beat the ${away} on ${when.noYear}?`,
        limitless: `${home} to beat ${away}, ${when.short}?`,
        manifold: `Will the ${home} win against the ${away} on ${when.long}?`,
      },
      description: `The game of the ${away} at the ${home} on ${when.long}.`,
    },
    `Resolves YES if the ${home} win the game against the ${away} scheduled for ${when.long}, overtime included. A game not played within two days is void.`,
  );
};

const football: Template = (occasion) => {
  const when = dates(occasion.closeAt);
  const home = pick(FOOTBALL, occasion, 12);
  const away = pick(
    FOOTBALL.filter((team) => team !== home),
    occasion,
    13,
  );
  return choice(
    occasion,
    {
      series: "EPLGAME",
      seriesTitle: "English football match",
      category: "Sports",
      tags: ["Soccer", "Premier League"],
      frequency: "weekly",
      source: "https://www.premierleague.com",
      titles: {
        kalshi: `${home} vs ${away} (${when.short})`,
        polymarket: `${home} vs. ${away}, ${when.noYear}`,
        limitless: `${home} – ${away}, ${when.short}`,
        manifold: `Who wins ${home} v ${away} on ${when.long}?`,
      },
      description: `Result after regular time of ${home} against ${away} on ${when.long}.`,
    },
    [home, away, "Draw"],
    true,
    (name, venue) =>
      name === "Draw"
        ? `Will ${home} vs ${away} end in a draw on ${when.noYear}?`
        : venue === "kalshi"
          ? `${home} vs ${away} winner, ${when.long}: ${name}?`
          : `Will ${name} win ${home} vs ${away} on ${when.noYear}?`,
    (name) =>
      `Resolves YES if the result after regular time and stoppage of ${home} v ${away} on ${when.long} is: ${name}.`,
  );
};

const champion: Template = (occasion) => {
  const when = dates(occasion.closeAt);
  return choice(
    occasion,
    {
      series: "NBACHAMP",
      seriesTitle: "Basketball champion",
      category: "Sports",
      tags: ["NBA", "Basketball"],
      frequency: "annual",
      source: "https://www.nba.com",
      titles: {
        kalshi: `Pro basketball champion by ${when.short}?`,
        polymarket: `NBA champion (decided by ${when.noYear}, ${when.year})`,
        limitless: `Basketball champion ${when.year}`,
        manifold: `Who will be basketball champion, decided by ${when.long}?`,
      },
      description: `The winner of the finals that end by ${when.long}.`,
    },
    BASKETBALL,
    true,
    (name, venue) =>
      venue === "kalshi"
        ? `Will the ${name} win the championship decided by ${when.long}?`
        : `Will the ${name} win the finals by ${when.noYear}, ${when.year}?`,
    (name) => `Resolves YES if the ${name} win the finals that are decided by ${when.long}.`,
  );
};

const election: Template = (occasion) => {
  const when = dates(occasion.closeAt);
  const country = pick(COUNTRIES, occasion, 14);
  return choice(
    occasion,
    {
      series: `PRES${country.slice(0, 4).toUpperCase()}`,
      seriesTitle: `${country} presidential election`,
      category: "Politics",
      tags: ["Elections", country],
      frequency: "one_off",
      source: "the national electoral authority",
      titles: {
        kalshi: `${country} presidential election winner (${when.short})?`,
        polymarket: `${country} Presidential Election, ${when.month} ${when.year}`,
        limitless: `${country} election, ${when.short}`,
        manifold: `Who will win the ${when.month} ${when.year} presidential election in ${country}?`,
      },
      description: `The winner of the presidential election in ${country} held on ${when.long}.`,
    },
    CANDIDATES.slice(0, 5 + Math.floor(3 * draw(occasion, 15))),
    false,
    (name, venue) =>
      venue === "kalshi"
        ? `Will ${name} be elected President of ${country} on ${when.long}?`
        : `Will ${name} win the ${when.month} ${when.year} ${country} presidential election?`,
    (name) =>
      `Resolves YES if ${name} wins the presidential election in ${country} held on ${when.long}, a second round included. Somebody not listed may win.`,
  );
};

const award: Template = (occasion) => {
  const when = dates(occasion.closeAt);
  return choice(
    occasion,
    {
      series: "BESTPIC",
      seriesTitle: "Best Picture",
      category: "Culture",
      tags: ["Awards", "Movies"],
      frequency: "annual",
      source: "the academy's announcement",
      titles: {
        kalshi: `Best Picture winner, ${when.short}?`,
        polymarket: `Best Picture (${when.month} ${when.year})`,
        limitless: `Best Picture ${when.short}`,
        manifold: `Which film wins Best Picture on ${when.long}?`,
      },
      description: `The film that wins Best Picture at the ceremony on ${when.long}.`,
    },
    FILMS,
    false,
    (name) => `Will "${name}" win Best Picture on ${when.noYear}, ${when.year}?`,
    (name) => `Resolves YES if "${name}" is announced as Best Picture at the ceremony of ${when.long}.`,
  );
};

const senate: Template = (occasion) => {
  const when = dates(occasion.closeAt);
  const district = 1 + Math.floor(40 * draw(occasion, 16));
  const country = pick(COUNTRIES, occasion, 17);
  return binary(
    occasion,
    {
      series: "SEAT",
      seriesTitle: "Parliament seat",
      category: "Politics",
      tags: ["Elections", country],
      frequency: "one_off",
      source: "the national electoral authority",
      titles: {
        kalshi: `Opposition wins district ${district} in ${country} (${when.short})?`,
        polymarket: `Will the opposition win ${country}'s district ${district} on ${when.noYear}?`,
        limitless: `${country} district ${district}: opposition win, ${when.short}?`,
        manifold: `Will the opposition win district ${district} in ${country} on ${when.long}?`,
      },
      description: `The by-election in district ${district} of ${country} on ${when.long}.`,
    },
    `Resolves YES if the opposition's candidate is declared winner of district ${district} in ${country} at the election of ${when.long}.`,
  );
};

/** "Will it happen by ...?" for several deadlines of one awaited event. */
const deadline: Template = (occasion) => {
  const isTech = draw(occasion, 18) < 0.5;
  const country = pick(COUNTRIES, occasion, 19);
  const deed = pick(DEEDS, occasion, 20);
  const company = pick(COMPANIES, occasion, 21);
  const product = pick(PRODUCTS, occasion, 22);
  const life = occasion.closeAt - occasion.openAt;
  const what = isTech ? `Will ${company} release ${product}` : `Will ${deed} in ${country}`;
  const stops = life > 10 * DAY_MS ? [0.4, 0.7, 1] : [1];
  const perDay = (0.3 + 1.2 * draw(occasion, 23)) / (life / DAY_MS);
  const short = isTech
    ? `${company.slice(0, 6).toUpperCase()}REL`
    : `${country.slice(0, 4).toUpperCase()}${deed.split(" ").at(-1)?.slice(0, 3).toUpperCase()}`;
  return {
    series: short,
    seriesTitle: isTech ? `${company} releases` : `News from ${country}`,
    category: isTech ? "Tech" : "Politics",
    tags: isTech ? ["Tech", company] : ["World", country],
    frequency: "one_off",
    mutuallyExclusive: false,
    exhaustive: false,
    ladder: stops.length > 1,
    source: "credible reporting",
    truth: { kind: "hazard", perDay },
    titles: {
      kalshi: `${what} before...?`,
      polymarket: `${what} by...?`,
      limitless: `${what}?`,
      manifold: `${what} by the following dates?`,
    },
    description: `${what} by a stated date.`,
    markets: stops.map((stop) => {
      const at = occasion.openAt + Math.round((stop * life) / 3_600_000) * 3_600_000;
      const until = stop === 1 ? occasion.closeAt : at;
      const when = dates(until);
      return {
        label: `By ${when.long}`,
        questions: {
          ...sameTitle(`${what} by ${when.noYear}, ${when.year}?`),
          kalshi: `${what} before ${when.long}, ${when.time}?`,
          manifold: `${what} by ${when.long}?`,
        },
        rules: `Resolves YES if it happens by ${when.time} on ${when.long}, according to credible reporting. It is enough that it happens once.`,
        strike: null,
        claim: { kind: "before", deadline: until },
      };
    }),
  };
};

const TEMPLATES: readonly {
  readonly template: Template;
  readonly weight: number;
  readonly daysMin: number;
  readonly daysMax: number;
}[] = [
  { template: fed, weight: 2, daysMin: 1, daysMax: 200 },
  { template: inflation, weight: 2, daysMin: 1, daysMax: 90 },
  { template: payrolls, weight: 2, daysMin: 1, daysMax: 90 },
  { template: coinLadder, weight: 5, daysMin: 0, daysMax: 30 },
  { template: temperature, weight: 4, daysMin: 0.2, daysMax: 5 },
  { template: rain, weight: 3, daysMin: 0, daysMax: 7 },
  { template: basketball, weight: 6, daysMin: 0, daysMax: 10 },
  { template: football, weight: 5, daysMin: 0, daysMax: 14 },
  { template: champion, weight: 1, daysMin: 30, daysMax: 250 },
  { template: election, weight: 3, daysMin: 5, daysMax: 300 },
  { template: award, weight: 1, daysMin: 20, daysMax: 200 },
  { template: senate, weight: 5, daysMin: 3, daysMax: 200 },
  { template: deadline, weight: 7, daysMin: 0.5, daysMax: 250 },
];

/** A real-world event whose kind suits how long it runs. */
export function drawBlueprint(occasion: Occasion): Blueprint {
  const days = (occasion.closeAt - occasion.openAt) / DAY_MS;
  const fitting = TEMPLATES.filter((entry) => days >= entry.daysMin && days <= entry.daysMax);
  const choices = fitting.length > 0 ? fitting : TEMPLATES;
  let rest = draw(occasion, 24) * choices.reduce((sum, entry) => sum + entry.weight, 0);
  for (const entry of choices) {
    rest -= entry.weight;
    if (rest < 0) return entry.template(occasion);
  }
  return deadline(occasion);
}

/** The rolling quarter-hour round: does the price end at or above where it began? */
export function quarterHourRound(occasion: Occasion): Blueprint {
  const coin = pick(COINS, occasion, 25);
  const start = dates(occasion.closeAt - 900_000);
  const end = dates(occasion.closeAt);
  const title = `${coin.name} up or down, ${start.noYear}, ${start.time} to ${end.time}`;
  return {
    series: `${coin.ticker}15M`,
    seriesTitle: `${coin.name} up or down, 15 minutes`,
    category: "Crypto",
    tags: [coin.name, "Crypto", "15M"],
    frequency: "fifteen_min",
    mutuallyExclusive: false,
    exhaustive: false,
    ladder: false,
    source: "https://data.chain.link",
    truth: { kind: "numeric", mean: 0, deviation: 1 },
    titles: {
      kalshi: `${coin.name} price up in 15 minutes, ${start.short} ${start.time}?`,
      polymarket: title,
      limitless: `$${coin.ticker} up or down, ${start.time}–${end.time}`,
      manifold: title,
    },
    description: `Whether the ${coin.name} price at ${end.time} on ${end.long} is at or above its price at ${start.time}.`,
    markets: [
      {
        label: "Up",
        questions: {
          ...sameTitle(`${title}?`),
          kalshi: `Will ${coin.name} be up from ${start.time} to ${end.time} on ${start.long}?`,
        },
        rules: `Resolves YES (Up) if the ${coin.name} reference price at ${end.time} on ${end.long} is at or above the price at ${start.time}; otherwise NO (Down).`,
        strike: null,
        claim: { kind: "range", above: 0, upTo: Number.POSITIVE_INFINITY },
      },
    ],
  };
}
