import type { EventListing, MarketSnapshot, MarketStatus } from "../src/domain/market.ts";
import { MONTH_NAMES } from "../src/lib/dates/month-names.ts";
import { DAY_MS, HOUR_MS } from "../src/lib/durations.ts";

export const SYNTHETIC_VENUES = ["northmarket", "southmarket", "eastmarket"] as const;
/** Share of each venue in all markets, in the order of `SYNTHETIC_VENUES`. */
const VENUE_SHARES = [0.65, 0.29, 0.06];

/** Possible numbers of markets per event. The mean is about three, as on large venues. */
const EVENT_SIZES = [1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 12];
const MONTHS = MONTH_NAMES.slice(0, 10);
const SYLLABLES =
  "ba be bo bri ca che co da del do el fa fer ga gre ha hol in ja ka kel la len lo ma mi mor na ni".split(" ");
const ENDINGS = "n r s ton ez ini berg ski wood ard os ia ell man ford ley".split(" ");
const OFFICES = ["presidential election", "governor race", "Senate seat", "mayoral election", "House seat"];
const COINS = ["Bitcoin", "Ethereum", "Solana", "XRP", "Dogecoin"];
const FIGURES = ["CPI", "unemployment rate", "GDP growth", "payrolls", "Fed funds rate", "core PCE"];
const WORKS = ["album", "film", "series", "song", "game"];

export interface SeededRandom {
  /** A number in [0, 1). */
  (): number;
  /** An integer in [0, below). */
  integer(below: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

/** Creates a pseudo-random number generator (mulberry32). Equal seeds result in equal numbers. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const integer = (below: number) => Math.floor(next() * below);
  return Object.assign(next, {
    integer,
    pick<Item>(items: readonly Item[]): Item {
      const item = items[integer(items.length)];
      if (item === undefined) throw new RangeError("Cannot pick from an empty list");
      return item;
    },
  });
}

/** Returns one of about 30,000 names; one in ten has accents. */
function createProperName(random: SeededRandom): string {
  const name = random.pick(SYLLABLES) + random.pick(SYLLABLES) + random.pick(ENDINGS);
  const accented = random.integer(10) === 0 ? name.replace("e", "é").replace("o", "ö") : name;
  return accented.charAt(0).toUpperCase() + accented.slice(1);
}

interface Question {
  readonly category: string;
  readonly title: string;
  /** Creates the title and outcome label of the event's market with this number. */
  market(number: number): { readonly title: string; readonly label: string | null };
}

function createQuestion(random: SeededRandom): Question {
  const date = `${random.pick(MONTHS)} ${1 + random.integer(28)}, ${2026 + random.integer(3)}`;
  const person = () => `${createProperName(random)} ${createProperName(random)}`;
  const place = createProperName(random);
  const kind = random.integer(6);
  if (kind === 0) {
    const [home, away] = [createProperName(random), createProperName(random)];
    return {
      category: "Sports",
      title: `${home} vs ${away} on ${date}`,
      market: (number) =>
        number === 0
          ? { title: `Will ${home} win against ${away} on ${date}?`, label: home }
          : { title: `${home} vs ${away}: total over ${number}.5 goals`, label: `Over ${number}.5` },
    };
  }
  if (kind === 1) {
    const office = random.pick(OFFICES);
    const title = `Who will win the ${place} ${office}?`;
    return {
      category: "Politics",
      title,
      market: () => {
        const candidate = person();
        return { title: `Will ${candidate} win the ${date.slice(-4)} ${place} ${office}?`, label: candidate };
      },
    };
  }
  if (kind === 2) {
    const coin = random.pick(COINS);
    const from = 50 + random.integer(1_000);
    return {
      category: "Crypto",
      title: `${coin} price on ${date}`,
      market: (number) => {
        const level = `$${(from * 100 + number * 250).toLocaleString("en-US")}`;
        return { title: `Will the price of ${coin} be above ${level} on ${date}?`, label: `Above ${level}` };
      },
    };
  }
  if (kind === 3) {
    return {
      category: "Climate and Weather",
      title: `Highest temperature in ${place} on ${date}?`,
      market: (number) => {
        const low = 50 + random.integer(40) + 2 * number;
        return {
          title: `Will the highest temperature in ${place} be between ${low}° and ${low + 1}° on ${date}?`,
          label: `${low}° to ${low + 1}°`,
        };
      },
    };
  }
  if (kind === 4) {
    const figure = random.pick(FIGURES);
    return {
      category: "Economics",
      title: `${figure} in ${place}, ${date}`,
      market: (number) => ({
        title: `Will the ${figure} of ${place} rise by more than ${(number / 10).toFixed(1)}% in ${date}?`,
        label: `Above ${(number / 10).toFixed(1)}%`,
      }),
    };
  }
  const work = `${createProperName(random)} ${random.pick(WORKS)}`;
  return {
    category: "Culture",
    title: `When will ${person()} release the next ${work}?`,
    market: () => ({ title: `Will the ${work} be released by ${date}?`, label: `By ${date}` }),
  };
}

function randomStatus(random: SeededRandom): MarketStatus {
  const share = random();
  return share < 0.93 ? "active" : share < 0.96 ? "closed" : share < 0.98 ? "determined" : "finalized";
}

/** Returns a log-uniform amount from 0.1 to 1,000,000 USD, similar to real volumes, or null in one of eight calls. */
function randomAmount(random: SeededRandom): number | null {
  return random.integer(8) === 0 ? null : Math.round(100 * 10 ** (random() * 7 - 1)) / 100;
}

const randomDigits = (random: SeededRandom, length: number) =>
  Array.from({ length }, () => random.integer(10)).join("");
const randomHex = (random: SeededRandom, length: number) =>
  Array.from({ length }, () => random.integer(16).toString(16)).join("");

/** Generates events with their markets. The result depends only on the options and resembles that of large venues. */
export function* syntheticEvents(options: {
  readonly markets: number;
  readonly now: number;
  readonly seed?: number;
}): Generator<{ readonly event: EventListing; readonly markets: readonly MarketSnapshot[] }> {
  const { now } = options;
  const random = seededRandom(options.seed ?? 1);
  for (let count = 0, number = 0; count < options.markets; number++) {
    const share = random();
    const venueNumber = VENUE_SHARES.findIndex((_, index) => {
      return share < VENUE_SHARES.slice(0, index + 1).reduce((sum, part) => sum + part, 0);
    });
    const venue = SYNTHETIC_VENUES[Math.max(0, venueNumber)] ?? SYNTHETIC_VENUES[0];
    const size = Math.min(
      options.markets - count,
      random.integer(500) === 0 ? 40 + random.integer(80) : random.pick(EVENT_SIZES),
    );
    const { category, title, market } = createQuestion(random);
    const eventId = `EV-${number.toString(36).toUpperCase()}-${randomDigits(random, 6)}`;
    const closeAt = now + random.integer(400 * 24) * HOUR_MS;
    const markets: MarketSnapshot[] = [];
    for (let index = 0; index < size; index++) {
      const { title, label } = market(index);
      markets.push(
        createSnapshot(random, { venue, eventId, category, title, label, closeAt, now, number: count + index }),
      );
    }
    count += size;
    yield {
      event: {
        venue,
        eventId,
        title,
        description: `This event is about the following question. ${title} All its markets follow the same source.`,
        category,
        url: `https://${venue}.example/event/${eventId.toLowerCase()}`,
        mutuallyExclusive: size > 2,
        exhaustive: false,
        children: null,
        featured: random.integer(50) === 0,
        endAt: closeAt,
      },
      markets,
    };
  }
}

function createSnapshot(
  random: SeededRandom,
  fields: {
    readonly venue: string;
    readonly eventId: string;
    readonly category: string;
    readonly title: string;
    readonly label: string | null;
    readonly closeAt: number;
    readonly now: number;
    readonly number: number;
  },
): MarketSnapshot {
  const { venue, eventId, title, label, closeAt, now } = fields;
  const isOnChain = venue === SYNTHETIC_VENUES[0];
  const marketId = isOnChain ? `0x${randomHex(random, 64)}` : `${eventId}-${fields.number}`;
  const bid = (1 + random.integer(95)) / 100;
  const isQuoted = random.integer(10) !== 0;
  const status = randomStatus(random);
  const volume24hUsd = randomAmount(random);
  return {
    listing: {
      venue,
      marketId,
      eventId,
      title,
      outcomeLabel: label,
      url: `https://${venue}.example/market/${title.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`,
      category: isOnChain ? null : fields.category,
      status,
      paused: false,
      outcome: status === "finalized" ? { kind: random.integer(2) === 0 ? "yes" : "no" } : null,
      rules:
        `This market will resolve to "Yes" if the answer to the question "${title}" is found to be so by the end ` +
        `of the day named, 11:59 PM ET. Otherwise, this market will resolve to "No". The primary resolution source will ` +
        `be official information from the body responsible for the figure or the contest; a consensus of credible ` +
        `reporting may also be used. If the matter is postponed, the market stays open until it has been decided; if it ` +
        `is cancelled without a new date, the market resolves 50-50. Reference ${randomHex(random, 12)}.`,
      openAt: now - random.integer(90) * DAY_MS,
      closeAt,
      expectedResolutionAt: random.integer(12) === 0 ? null : closeAt + HOUR_MS,
      resolvedAt: status === "finalized" ? now - random.integer(20) * DAY_MS : null,
      priceRanges: [{ from: 0, to: 1, step: 0.01 }],
      minOrderContracts: 1,
      contractStep: 1,
      takerDelayMs: null,
      protocolVersion: null,
      takerFee: isOnChain ? { kind: "none" } : { kind: "quadratic", rate: 0.07, exponent: 1 },
      venueKeys: isOnChain
        ? { yes: randomDigits(random, 77), no: randomDigits(random, 77) }
        : { series: eventId.slice(0, 8) },
    },
    quote: {
      bid: isQuoted ? bid : null,
      ask: isQuoted ? (Math.round(bid * 100) + 1 + random.integer(3)) / 100 : null,
      bidSize: isQuoted ? random.integer(5_000) : null,
      askSize: isQuoted ? random.integer(5_000) : null,
      lastPrice: random.integer(30) === 0 ? null : bid,
      indicativePrice: null,
      eventAt: null,
      receivedAt: now - random.integer(60_000),
    },
    activity: {
      volume24hUsd,
      volumeTotalUsd: volume24hUsd === null ? null : volume24hUsd * 10,
      liquidityUsd: randomAmount(random),
      openInterestUsd: randomAmount(random),
    },
  };
}
