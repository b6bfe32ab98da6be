import type {
  EventListing,
  MarketListing,
  MarketSnapshot,
  MarketStatus,
  Outcome,
  VenueId,
} from "../../domain/market.ts";
import { fromMicros, parseTradablePrice, toMicros } from "../../domain/price.ts";
import type { DropCounter } from "../../ports/venue.ts";
import type { CachedContract } from "./contract-cache.ts";
import { marketIdOf } from "./ids.ts";
import { type AnswerWire, type ContractWire, isAnswer, isContract } from "./wire.ts";
import type { ManifoldWatches } from "./wire-shapes.ts";

export interface ParseContext {
  readonly venue: VenueId;
  readonly receivedAt: number;
  /** Whether the answers exclude each other, where the request already says so and the row does not. */
  readonly sumsToOne: boolean | null;
  /** What an earlier full read told, for rows of a list. */
  readonly note: CachedContract | null;
  readonly drop: DropCounter;
  readonly watch: ManifoldWatches;
}

export interface ParsedContract {
  readonly contractId: string;
  readonly markets: readonly MarketSnapshot[];
  readonly event: EventListing | null;
  /** Unix milliseconds; the cursor of lists. */
  readonly createdAt: number | null;
  /** What to remember of a full read. */
  readonly note: CachedContract;
}

const TITLE_LENGTH_MAX = 1_000;
const RULES_LENGTH_MAX = 10_000;
const ANSWERS_MAX = 500;
const TIME_MIN = Date.UTC(2000, 0, 1);
const TIME_MAX = Date.UTC(9999, 0, 1);
const URL_PREFIX = "https://manifold.markets/";
/** Manifold's large topics by the word the field uses. */
const CATEGORY_BY_TOPIC: Readonly<Record<string, string>> = {
  "economics-default": "Economics",
  "politics-default": "Politics",
  "us-politics": "Politics",
  "sports-default": "Sports",
  "crypto-speculation": "Crypto",
  weather: "Weather",
  "culture-default": "Culture",
  entertainment: "Culture",
  "technology-default": "Tech",
  ai: "Tech",
};

/**
 * A LiteMarket or FullMarket as our markets: one of a BINARY contract, one per answer of a MULTIPLE_CHOICE one. Null for
 * kinds of contract that are no yes-or-no questions (polls, bounties, numbers, stocks) and for rows that cannot be read,
 * which are counted as `bad_market`.
 */
export function parseContract(row: unknown, context: ParseContext): ParsedContract | null {
  if (!context.watch.contract.check(row, isContract)) {
    context.drop("bad_market");
    return null;
  }
  if (row.outcomeType === "BINARY") return parseBinary(row, context);
  if (row.outcomeType === "MULTIPLE_CHOICE") return parseMultiple(row, context);
  return null;
}

function parseBinary(row: ContractWire, context: ParseContext): ParsedContract {
  const { note, base, createdAt } = parseShared(row, context);
  const status = contractStatus(row, context.receivedAt);
  const listing: MarketListing = {
    ...base,
    marketId: row.id,
    eventId: null,
    title: shorten(row.question, TITLE_LENGTH_MAX),
    outcomeLabel: null,
    status,
    outcome: status === "finalized" ? parseOutcome(row.resolution, row.resolutionProbability, context.drop) : null,
    resolvedAt: status === "finalized" ? parseTime(row.resolutionTime) : null,
    venueKeys: { contractId: row.id },
  };
  const market = snapshot(listing, row.probability, context);
  return { contractId: row.id, markets: [market], event: null, createdAt, note };
}

function parseMultiple(row: ContractWire, context: ParseContext): ParsedContract {
  const { note, base, createdAt } = parseShared(row, context);
  const sumsToOne = row.shouldAnswersSumToOne ?? context.sumsToOne ?? false;
  const question = shorten(row.question, TITLE_LENGTH_MAX);
  const markets: MarketSnapshot[] = [];
  const settledAnswerIds: string[] = [];
  const seen = new Set<string>();
  for (const answer of row.answers ?? []) {
    if (!context.watch.answer.check(answer, isAnswer) || seen.has(answer.id) || seen.size >= ANSWERS_MAX) {
      context.drop("bad_answer");
      continue;
    }
    seen.add(answer.id);
    const status = isSettled(answer.resolution) ? "finalized" : contractStatus(row, context.receivedAt);
    if (isSettled(answer.resolution) && !row.isResolved) settledAnswerIds.push(answer.id);
    const label = shorten(answer.text, TITLE_LENGTH_MAX);
    const listing: MarketListing = {
      ...base,
      marketId: marketIdOf(row.id, answer.id),
      eventId: row.id,
      title: `${question} — ${label}`,
      outcomeLabel: label,
      status,
      outcome: status === "finalized" ? answerOutcome(row, answer, context.drop) : null,
      resolvedAt: status === "finalized" ? parseTime(answer.resolutionTime ?? row.resolutionTime) : null,
      venueKeys: { contractId: row.id, answerId: answer.id },
    };
    // Lists tell of no answer that it is resolved: one that stands at exactly 0 or 1 is, which is no fault of its price.
    const isShownSettled = answer.probability === 0 || answer.probability === 1;
    markets.push(snapshot(listing, isShownSettled ? null : answer.probability, context));
  }
  const event: EventListing = {
    venue: context.venue,
    eventId: row.id,
    title: question,
    description: base.rules,
    category: base.category,
    url: base.url,
    mutuallyExclusive: sumsToOne,
    exhaustive: sumsToOne,
    featured: false,
    endAt: base.closeAt,
  };
  // A list shows resolved answers like the others: what an earlier full read found still holds.
  const settled = context.note?.settledAnswerIds ?? settledAnswerIds;
  return { contractId: row.id, markets, event, createdAt, note: { ...note, settledAnswerIds: settled } };
}

function parseShared(row: ContractWire, context: ParseContext) {
  const rules = row.textDescription ? shorten(row.textDescription, RULES_LENGTH_MAX) : (context.note?.rules ?? null);
  const category = row.groupSlugs ? parseCategory(row.groupSlugs) : (context.note?.category ?? null);
  const createdAt = parseTime(row.createdTime);
  const base = {
    venue: context.venue,
    url: row.url?.startsWith(URL_PREFIX) === true ? row.url : null,
    category,
    paused: false,
    rules,
    openAt: createdAt,
    closeAt: parseTime(row.closeTime),
    // The creator resolves whenever the answer is known; no date is promised.
    expectedResolutionAt: null,
    tickSize: null,
    takerFee: { kind: "none" },
  } as const;
  const note: CachedContract = { rules, category, settledAnswerIds: [] };
  return { base, createdAt, note };
}

/**
 * Manifold has no book: the probability is an indication, and `lastPrice` stays null because the average price of an old
 * bet would hide the probability of now. It does not say since when the probability holds, so `eventAt` is null too.
 * Everything else it counts is mana, never dollars.
 */
function snapshot(listing: MarketListing, probability: unknown, context: ParseContext): MarketSnapshot {
  const indicativePrice = parseTradablePrice(probability);
  // A settled question may be shown at 0 or 1; on an open one that is garbage.
  if (indicativePrice === null && probability !== undefined && probability !== null && listing.status === "active") {
    context.drop("price_out_of_range");
  }
  return {
    listing,
    quote: {
      bid: null,
      ask: null,
      bidSize: null,
      askSize: null,
      lastPrice: null,
      indicativePrice,
      eventAt: null,
      receivedAt: context.receivedAt,
    },
    activity: { volume24hUsd: null, volumeTotalUsd: null, liquidityUsd: null, openInterestUsd: null },
  };
}

function contractStatus(row: ContractWire, now: number): MarketStatus {
  if (row.isResolved) return "finalized";
  return typeof row.closeTime === "number" && row.closeTime <= now ? "closed" : "active";
}

const isSettled = (resolution: string | null | undefined): boolean =>
  resolution !== undefined && resolution !== null && resolution !== "";

/** An answer's own resolution decides; answers that exclude each other have none and take the contract's. */
function answerOutcome(row: ContractWire, answer: AnswerWire, drop: DropCounter): Outcome | null {
  if (isSettled(answer.resolution)) return parseOutcome(answer.resolution, answer.resolutionProbability, drop);
  const { resolution } = row;
  if (resolution === "CANCEL") return { kind: "void", value: null };
  if (resolution === answer.id) return { kind: "yes" };
  if (resolution === "CHOOSE_MULTIPLE" || resolution === "MKT") {
    // The answer's resolutionProbability is what the market thought before, not what it pays: never use it here.
    const shares = row.resolutions;
    if (shares === undefined || shares === null) return null;
    const total = Object.values(shares).reduce((sum, share) => sum + share, 0);
    return total > 0 ? payout((shares[answer.id] ?? 0) / total) : null;
  }
  if (row.answers?.some((other) => isAnswer(other) && other.id === resolution)) return { kind: "no" };
  drop("unknown_resolution");
  return null;
}

function parseOutcome(
  resolution: string | null | undefined,
  resolutionProbability: number | null | undefined,
  drop: DropCounter,
): Outcome | null {
  if (resolution === "YES") return { kind: "yes" };
  if (resolution === "NO") return { kind: "no" };
  if (resolution === "CANCEL") return { kind: "void", value: null };
  if (resolution === "MKT") return payout(resolutionProbability ?? Number.NaN);
  drop("unknown_resolution");
  return null;
}

function payout(value: number): Outcome | null {
  if (!(value >= 0 && value <= 1)) return null;
  const rounded = fromMicros(toMicros(value));
  if (rounded === 0) return { kind: "no" };
  return rounded === 1 ? { kind: "yes" } : { kind: "partial", value: rounded };
}

/** A venue time in Unix milliseconds, or null when it is missing or absurd. */
export function parseTime(value: number | null | undefined): number | null {
  if (typeof value !== "number" || !(value >= TIME_MIN && value <= TIME_MAX)) return null;
  return Math.round(value);
}

function parseCategory(topics: readonly string[]): string | null {
  for (const topic of topics) {
    if (Object.hasOwn(CATEGORY_BY_TOPIC, topic)) return CATEGORY_BY_TOPIC[topic] ?? null;
  }
  return null;
}

const shorten = (text: string, lengthMax: number): string =>
  text.length <= lengthMax ? text : text.slice(0, lengthMax);
