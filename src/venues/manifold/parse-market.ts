import { countChildren, settledReasonOf } from "../../domain/event-children.ts";
import {
  EMPTY_ACTIVITY,
  EMPTY_QUOTE,
  type EventListing,
  type MarketListing,
  type MarketSnapshot,
  type MarketStatus,
} from "../../domain/market.ts";
import { parseTradablePrice } from "../../domain/price.ts";
import type { CachedContract, ManifoldContext } from "./client.ts";
import { marketIdOf } from "./ids.ts";
import { type AnswerProbabilities, answerOutcome, hasResolution, parseOutcome } from "./parse-outcome.ts";
import { parseTime } from "./parse-values.ts";
import { type ContractWire, hasBinaryAnswers, isAnswer, isContract } from "./wire.ts";

export interface ParseContext extends Pick<ManifoldContext, "id" | "countDrop" | "driftDetectors"> {
  readonly receivedAt: number;
  /** Whether the requested contract type has mutually exclusive answers. Used if the row does not include it. */
  readonly sumsToOne: boolean | null;
  /** Data from an earlier request for the contract, which completes a listing row. */
  readonly cached: CachedContract | null;
  /** The response of `/market/{id}/prob`, requested only if the row lacks payouts. */
  readonly probabilities?: AnswerProbabilities | null;
}

export interface ParsedContract {
  readonly contractId: string;
  readonly markets: readonly MarketSnapshot[];
  readonly event: EventListing | null;
  readonly cacheEntry: CachedContract;
}

const TITLE_LENGTH_MAX = 1_000;
const RULES_LENGTH_MAX = 10_000;
const ANSWERS_MAX = 500;
const URL_PREFIX = "https://manifold.markets/";
/** The service's category by Manifold topic slug. */
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
 * Parses a LiteMarket or FullMarket: a BINARY contract is one market, a contract with answers (choices, or buckets of a
 * number or date) has one market per answer. Returns null for other contracts (polls, bounties, stocks, scales),
 * counted as `not_binary`, and for invalid rows, counted as `bad_market`.
 *
 * Also returns null for a sweepstakes contract, counted as `cash_contract`. It repeats the question of a contract in
 * mana, and the venue has switched sweepstakes off, so its probability is out of date.
 */
export function parseContract(row: unknown, context: ParseContext): ParsedContract | null {
  if (!context.driftDetectors.contract.check(row, isContract)) {
    context.countDrop("bad_market");
    return null;
  }
  if (row.token === "CASH") {
    context.countDrop("cash_contract");
    return null;
  }
  if (row.outcomeType === "BINARY") return parseBinary(row, context);
  if (hasBinaryAnswers(row)) return parseMultiple(row, context);
  context.countDrop("not_binary");
  return null;
}

function parseBinary(row: ContractWire, context: ParseContext): ParsedContract {
  const { cacheEntry, base } = parseShared(row, context);
  const status = contractStatus(row, context.receivedAt);
  const listing: MarketListing = {
    ...base,
    marketId: row.id,
    eventId: null,
    title: row.question.slice(0, TITLE_LENGTH_MAX),
    outcomeLabel: null,
    status,
    outcome: status === "finalized" ? parseOutcome(row, context.countDrop) : null,
    resolvedAt: status === "finalized" ? parseTime(row.resolutionTime) : null,
    venueKeys: { contractId: row.id },
  };
  const market = snapshot(listing, row.probability, context);
  return { contractId: row.id, markets: [market], event: null, cacheEntry };
}

function parseMultiple(
  row: ContractWire & { readonly answers: readonly unknown[] },
  context: ParseContext,
): ParsedContract {
  const { cacheEntry, base } = parseShared(row, context);
  const sumsToOne = findSumsToOne(row, context);
  const question = row.question.slice(0, TITLE_LENGTH_MAX);
  const markets: MarketSnapshot[] = [];
  const settledAnswerIds: string[] = [];
  const seenIds = new Set<string>();
  for (const answer of row.answers) {
    if (
      !context.driftDetectors.answer.check(answer, isAnswer) ||
      seenIds.has(answer.id) ||
      seenIds.size >= ANSWERS_MAX
    ) {
      context.countDrop("bad_answer");
      continue;
    }
    seenIds.add(answer.id);
    const status = hasResolution(answer.resolution) ? "finalized" : contractStatus(row, context.receivedAt);
    if (hasResolution(answer.resolution) && !row.isResolved) settledAnswerIds.push(answer.id);
    const label = answer.text.slice(0, TITLE_LENGTH_MAX);
    const listing: MarketListing = {
      ...base,
      marketId: marketIdOf(row.id, answer.id),
      eventId: row.id,
      title: `${question} — ${label}`,
      outcomeLabel: label,
      status,
      outcome:
        status === "finalized" ? answerOutcome(row, answer, context.probabilities ?? null, context.countDrop) : null,
      resolvedAt: status === "finalized" ? parseTime(answer.resolutionTime ?? row.resolutionTime) : null,
      venueKeys: { contractId: row.id, answerId: answer.id },
    };
    // Listings do not mark resolved answers. A probability of exactly 0 or 1 means resolved and is not an invalid
    // price.
    const isResolvedPrice = answer.probability === 0 || answer.probability === 1;
    markets.push(snapshot(listing, isResolvedPrice ? null : answer.probability, context));
  }
  const event: EventListing = {
    venue: context.id,
    eventId: row.id,
    title: question,
    description: base.rules,
    category: base.category,
    url: base.url,
    mutuallyExclusive: sumsToOne === true,
    exhaustive: sumsToOne === true,
    children: countChildren([
      ...markets.map(({ listing }) => settledReasonOf(listing)),
      ...Array.from({ length: row.answers.length - markets.length }, () => "unreadable" as const),
    ]),
    featured: false,
    endAt: base.closeAt,
  };
  // Listings do not mark resolved answers, so the cached ones take precedence.
  const settledIds = context.cached?.settledAnswerIds ?? settledAnswerIds;
  return { contractId: row.id, markets, event, cacheEntry: { ...cacheEntry, settledAnswerIds: settledIds, sumsToOne } };
}

/** Returns whether the answers are mutually exclusive and exhaustive, or null if unknown. */
function findSumsToOne(row: ContractWire, { sumsToOne, cached }: ParseContext): boolean | null {
  // Rows from 2022 do not include `shouldAnswersSumToOne`. Their mechanism `dpm-2` has one pool for all answers.
  return row.shouldAnswersSumToOne ?? sumsToOne ?? cached?.sumsToOne ?? (row.mechanism === "dpm-2" ? true : null);
}

function parseShared(row: ContractWire, context: ParseContext) {
  const rules = row.textDescription ? row.textDescription.slice(0, RULES_LENGTH_MAX) : (context.cached?.rules ?? null);
  const category = row.groupSlugs ? parseCategory(row.groupSlugs) : (context.cached?.category ?? null);
  const base = {
    venue: context.id,
    url: row.url?.startsWith(URL_PREFIX) === true ? row.url : null,
    category,
    paused: false,
    rules,
    openAt: parseTime(row.createdTime),
    closeAt: parseTime(row.closeTime),
    // The creator may resolve the contract at any time, so there is no expected date.
    expectedResolutionAt: null,
    priceRanges: null,
    // The minimum bet is an amount of mana, not a number of contracts.
    minOrderContracts: null,
    contractStep: null,
    takerDelayMs: null,
    protocolVersion: null,
    takerFee: { kind: "none" },
  } as const;
  const cacheEntry: CachedContract = { rules, category, settledAnswerIds: [], sumsToOne: null };
  return { base, cacheEntry };
}

/**
 * Manifold has no book, so the probability is the indicative price. `lastPrice` is null because the average price of an
 * old bet would take precedence over the current probability. The venue sends no time for the probability, so `eventAt`
 * is null. Its amounts are mana, so all activity is null.
 */
function snapshot(listing: MarketListing, probability: unknown, context: ParseContext): MarketSnapshot {
  const indicativePrice = parseTradablePrice(probability);
  // The probabilities 0 and 1 are valid only if the market is settled.
  if (indicativePrice === null && probability !== undefined && probability !== null && listing.status === "active") {
    context.countDrop("price_out_of_range");
  }
  return {
    listing,
    quote: {
      ...EMPTY_QUOTE,
      indicativePrice,
      receivedAt: context.receivedAt,
    },
    activity: EMPTY_ACTIVITY,
  };
}

function contractStatus(row: ContractWire, now: number): MarketStatus {
  if (row.isResolved) return "finalized";
  return typeof row.closeTime === "number" && row.closeTime <= now ? "closed" : "active";
}

function parseCategory(topics: readonly string[]): string | null {
  const topic = topics.find((each) => Object.hasOwn(CATEGORY_BY_TOPIC, each));
  return CATEGORY_BY_TOPIC[topic ?? ""] ?? null;
}
