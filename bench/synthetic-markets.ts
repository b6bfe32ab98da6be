import type { EventListing, MarketSnapshot, MarketStatus } from "../src/domain/market.ts";

/** Venues of the synthetic rows and their share of them. */
export const SYNTHETIC_VENUES = ["northmarket", "southmarket", "eastmarket"] as const;
const VENUE_SHARES = [0.65, 0.29, 0.06];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Legs an event has, one drawn for each event: three a market on average, as on the large venues. */
const EVENT_SIZES = [1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 12];
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October"];
const SYLLABLES =
  "ba be bo bri ca che co da del do el fa fer ga gre ha hol in ja ka kel la len lo ma mi mor na ni".split(" ");
const ENDINGS = "n r s ton ez ini berg ski wood ard os ia ell man ford ley".split(" ");
const OFFICES = ["presidential election", "governor race", "Senate seat", "mayoral election", "House seat"];
const COINS = ["Bitcoin", "Ethereum", "Solana", "XRP", "Dogecoin"];
const FIGURES = ["CPI", "unemployment rate", "GDP growth", "payrolls", "Fed funds rate", "core PCE"];
const WORKS = ["album", "film", "series", "song", "game"];

export interface Draw {
  (): number;
  whole(below: number): number;
  of<Item>(items: readonly Item[]): Item;
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const whole = (below: number) => Math.floor(next() * below);
  return Object.assign(next, {
    whole,
    of<Item>(items: readonly Item[]): Item {
      const item = items[whole(items.length)];
      if (item === undefined) throw new RangeError("nothing to draw from");
      return item;
    },
  });
}

/** A proper name out of some 30,000; every tenth has an accent, as real ones do. */
function properName(draw: Draw): string {
  const name = draw.of(SYLLABLES) + draw.of(SYLLABLES) + draw.of(ENDINGS);
  const accented = draw.whole(10) === 0 ? name.replace("e", "é").replace("o", "ö") : name;
  return accented.charAt(0).toUpperCase() + accented.slice(1);
}

interface Question {
  readonly category: string;
  readonly title: string;
  leg(number: number): { readonly title: string; readonly label: string | null };
}

function question(draw: Draw): Question {
  const date = `${draw.of(MONTHS)} ${1 + draw.whole(28)}, ${2026 + draw.whole(3)}`;
  const person = () => `${properName(draw)} ${properName(draw)}`;
  const place = properName(draw);
  const kind = draw.whole(6);
  if (kind === 0) {
    const [home, away] = [properName(draw), properName(draw)];
    return {
      category: "Sports",
      title: `${home} vs ${away} on ${date}`,
      leg: (number) =>
        number === 0
          ? { title: `Will ${home} win against ${away} on ${date}?`, label: home }
          : { title: `${home} vs ${away}: total over ${number}.5 goals`, label: `Over ${number}.5` },
    };
  }
  if (kind === 1) {
    const office = draw.of(OFFICES);
    const title = `Who will win the ${place} ${office}?`;
    return {
      category: "Politics",
      title,
      leg: () => {
        const candidate = person();
        return { title: `Will ${candidate} win the ${date.slice(-4)} ${place} ${office}?`, label: candidate };
      },
    };
  }
  if (kind === 2) {
    const coin = draw.of(COINS);
    const from = 50 + draw.whole(1_000);
    return {
      category: "Crypto",
      title: `${coin} price on ${date}`,
      leg: (number) => {
        const level = `$${(from * 100 + number * 250).toLocaleString("en-US")}`;
        return { title: `Will the price of ${coin} be above ${level} on ${date}?`, label: `Above ${level}` };
      },
    };
  }
  if (kind === 3) {
    return {
      category: "Climate and Weather",
      title: `Highest temperature in ${place} on ${date}?`,
      leg: (number) => {
        const low = 50 + draw.whole(40) + 2 * number;
        return {
          title: `Will the highest temperature in ${place} be between ${low}° and ${low + 1}° on ${date}?`,
          label: `${low}° to ${low + 1}°`,
        };
      },
    };
  }
  if (kind === 4) {
    const figure = draw.of(FIGURES);
    return {
      category: "Economics",
      title: `${figure} in ${place}, ${date}`,
      leg: (number) => ({
        title: `Will the ${figure} of ${place} rise by more than ${(number / 10).toFixed(1)}% in ${date}?`,
        label: `Above ${(number / 10).toFixed(1)}%`,
      }),
    };
  }
  const work = `${properName(draw)} ${draw.of(WORKS)}`;
  return {
    category: "Culture",
    title: `When will ${person()} release the next ${work}?`,
    leg: () => ({ title: `Will the ${work} be released by ${date}?`, label: `By ${date}` }),
  };
}

function statusOf(draw: Draw): MarketStatus {
  const share = draw();
  return share < 0.93 ? "active" : share < 0.96 ? "closed" : share < 0.98 ? "determined" : "finalized";
}

/** An amount in USD whose size is spread as real volumes are: most tiny, few large; unknown for one in eight. */
function amount(draw: Draw): number | null {
  return draw.whole(8) === 0 ? null : Math.round(100 * 10 ** (draw() * 7 - 1)) / 100;
}

const digits = (draw: Draw, length: number) => Array.from({ length }, () => draw.whole(10)).join("");
const hex = (draw: Draw, length: number) => Array.from({ length }, () => draw.whole(16).toString(16)).join("");

/** Events with their markets, with texts, ids and figures as the large venues have them; the same for the same seed. */
export function* syntheticEvents(options: {
  readonly markets: number;
  readonly now: number;
  readonly seed?: number;
}): Generator<{ readonly event: EventListing; readonly markets: readonly MarketSnapshot[] }> {
  const { now } = options;
  const draw = drawFrom(options.seed ?? 1);
  for (let count = 0, number = 0; count < options.markets; number++) {
    const share = draw();
    const venueNumber = VENUE_SHARES.findIndex((_, index) => {
      return share < VENUE_SHARES.slice(0, index + 1).reduce((sum, part) => sum + part, 0);
    });
    const venue = SYNTHETIC_VENUES[Math.max(0, venueNumber)] ?? SYNTHETIC_VENUES[0];
    const size = Math.min(options.markets - count, draw.whole(500) === 0 ? 40 + draw.whole(80) : draw.of(EVENT_SIZES));
    const { category, title, leg } = question(draw);
    const eventId = `EV-${number.toString(36).toUpperCase()}-${digits(draw, 6)}`;
    const closeAt = now + draw.whole(400 * 24) * HOUR_MS;
    const markets: MarketSnapshot[] = [];
    for (let index = 0; index < size; index++) {
      const words = leg(index);
      markets.push(market(draw, { venue, eventId, category, words, closeAt, now, number: count + index }));
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
        featured: draw.whole(50) === 0,
        endAt: closeAt,
      },
      markets,
    };
  }
}

function market(
  draw: Draw,
  facts: {
    readonly venue: string;
    readonly eventId: string;
    readonly category: string;
    readonly words: { readonly title: string; readonly label: string | null };
    readonly closeAt: number;
    readonly now: number;
    readonly number: number;
  },
): MarketSnapshot {
  const { venue, eventId, words, closeAt, now } = facts;
  const isOnChain = venue === SYNTHETIC_VENUES[0];
  const marketId = isOnChain ? `0x${hex(draw, 64)}` : `${eventId}-${facts.number}`;
  const bid = (1 + draw.whole(95)) / 100;
  const isQuoted = draw.whole(10) !== 0;
  const status = statusOf(draw);
  const volume24hUsd = amount(draw);
  return {
    listing: {
      venue,
      marketId,
      eventId,
      title: words.title,
      outcomeLabel: words.label,
      url: `https://${venue}.example/market/${words.title.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`,
      category: isOnChain ? null : facts.category,
      status,
      paused: false,
      outcome: status === "finalized" ? { kind: draw.whole(2) === 0 ? "yes" : "no" } : null,
      rules:
        `This market will resolve to "Yes" if the answer to the question "${words.title}" is found to be so by the end ` +
        `of the day named, 11:59 PM ET. Otherwise, this market will resolve to "No". The primary resolution source will ` +
        `be official information from the body responsible for the figure or the contest; a consensus of credible ` +
        `reporting may also be used. If the matter is postponed, the market stays open until it has been decided; if it ` +
        `is cancelled without a new date, the market resolves 50-50. Reference ${hex(draw, 12)}.`,
      openAt: now - draw.whole(90) * DAY_MS,
      closeAt,
      expectedResolutionAt: draw.whole(12) === 0 ? null : closeAt + HOUR_MS,
      resolvedAt: status === "finalized" ? now - draw.whole(20) * DAY_MS : null,
      tickSize: 0.01,
      takerFee: isOnChain ? { kind: "none" } : { kind: "quadratic", rate: 0.07, exponent: 1 },
      venueKeys: isOnChain ? { yes: digits(draw, 77), no: digits(draw, 77) } : { series: eventId.slice(0, 8) },
    },
    quote: {
      bid: isQuoted ? bid : null,
      ask: isQuoted ? (Math.round(bid * 100) + 1 + draw.whole(3)) / 100 : null,
      bidSize: isQuoted ? draw.whole(5_000) : null,
      askSize: isQuoted ? draw.whole(5_000) : null,
      lastPrice: draw.whole(30) === 0 ? null : bid,
      indicativePrice: null,
      eventAt: null,
      receivedAt: now - draw.whole(60_000),
    },
    activity: {
      volume24hUsd,
      volumeTotalUsd: volume24hUsd === null ? null : volume24hUsd * 10,
      liquidityUsd: amount(draw),
      openInterestUsd: amount(draw),
    },
  };
}
