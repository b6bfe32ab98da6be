import { DAY_MS } from "../../../src/lib/durations.ts";
import { type FeedEvent, isListed, type ListedMarket, type World } from "../../world/types.ts";
import { lastBetTimeOf } from "./bets.ts";
import {
  type Contract,
  closeTimeOf,
  creatorNumberOf,
  liquidityOf,
  manifoldProbability,
  midpointOf,
  poolOf,
  type Resolution,
  resolutionOf,
} from "./contracts.ts";
import { displayNameOf, userIdOf, userNameOf } from "./ids.ts";

export interface ContractState {
  readonly closeTime: number;
  readonly isResolved: boolean;
  readonly resolution?: string;
  readonly resolutionTime?: number;
  readonly resolutionProbability?: number;
  readonly resolverId?: string;
  /** Payout in percent by id of each mutually exclusive answer that wins. REST responses do not include it. */
  readonly resolutions?: Readonly<Record<string, number>>;
}

/** A contract is resolved when all of its markets are. */
export function contractStateOf(world: World, contract: Contract, at: number): ContractState {
  const closeTime = closeTimeOf(world, contract, at);
  const { markets } = contract.event;
  const resolutions = markets
    .map((market) => resolutionOf(world, market, at))
    .filter((resolution) => resolution !== null);
  if (resolutions.length < markets.length) return { closeTime, isResolved: false };
  const last = resolutions.reduce((last, other) => (other.resolutionTime > last.resolutionTime ? other : last));
  const { resolutionTime, resolutionProbability } = last;
  const resolvedFields = {
    closeTime: Math.min(closeTime, resolutionTime),
    isResolved: true,
    resolutionTime,
    resolverId: userIdOf(creatorNumberOf(contract.event)),
  };
  if (!contract.isMultiple) return { ...resolvedFields, resolution: last.resolution, resolutionProbability };
  const isCancelled = resolutions.every(({ resolution }) => resolution === "CANCEL");
  if (!contract.sumsToOne)
    return { ...resolvedFields, resolution: isCancelled ? "CANCEL" : "MKT", resolutionProbability };
  return { ...resolvedFields, ...(isCancelled ? { resolution: "CANCEL" } : presentWinners(contract, resolutions)) };
}

function presentWinners(contract: Contract, resolutions: readonly Resolution[]) {
  const shares = [...contract.answerIds.values()]
    .map((id, position) => [id, payoutOf(resolutions[position])] as const)
    .filter(([, share]) => share > 0);
  const total = shares.reduce((sum, [, share]) => sum + share, 0);
  const percents = Object.fromEntries(shares.map(([id, share]) => [id, (100 * share) / total]));
  const [winner] = shares;
  const resolution = shares.length === 1 && winner !== undefined ? winner[0] : "CHOOSE_MULTIPLE";
  return { resolution, resolutions: percents };
}

function payoutOf(resolution: Resolution | undefined): number {
  if (resolution?.resolution === "YES") return 1;
  return resolution?.resolution === "MKT" ? resolution.resolutionProbability : 0;
}

/** Presents a `LiteMarket`, a row of the list endpoints. */
export function presentLiteMarket(world: World, contract: Contract, at: number, includeAnswers = false) {
  const { event } = contract;
  const creator = creatorNumberOf(event);
  const creatorUsername = userNameOf(creator);
  const activity = event.markets.map((market) => world.activity(market, at));
  const traderCountMax = Math.max(...activity.map(({ traderCount }) => traderCount ?? 0));
  const onlyMarket = contract.isMultiple ? undefined : event.markets[0];
  const recordedUrl = event.recorded?.url ?? event.markets[0]?.recorded?.url ?? null;
  const probability = onlyMarket === undefined ? undefined : manifoldProbability(world, onlyMarket, at);
  const totalLiquidity = liquidityOf(traderCountMax);
  const { resolutions: _resolutions, ...state } = contractStateOf(world, contract, at);
  const lastBetTime = lastBetTimeOf(world, event.markets, at);
  return {
    id: contract.id,
    creatorId: userIdOf(creator),
    creatorUsername,
    creatorName: displayNameOf(creator),
    createdTime: event.openAt,
    question: event.title,
    slug: contract.slug,
    url: recordedUrl ?? `https://manifold.markets/${creatorUsername}/${contract.slug}`,
    outcomeType: contract.outcomeType,
    mechanism: mechanismOf(contract),
    pool: probability === undefined ? undefined : poolOf(probability, totalLiquidity),
    p: probability === undefined ? undefined : 0.5,
    probability,
    totalLiquidity,
    volume: activity.reduce((sum, { volumeUsd }) => sum + (volumeUsd ?? 0), 0),
    volume24Hours: activity.reduce((sum, { volume24hUsd }) => sum + (volume24hUsd ?? 0), 0),
    ...state,
    uniqueBettorCount: traderCountMax,
    lastUpdatedTime: Math.max(lastBetTime ?? event.openAt, state.resolutionTime ?? 0),
    lastBetTime: lastBetTime ?? undefined,
    token: "MANA",
    answers: includeAnswers && contract.isMultiple ? presentLiteAnswers(world, contract, at) : undefined,
  };
}

const mechanismOf = ({ isMultiple }: Contract) => (isMultiple ? "cpmm-multi-1" : "cpmm-1");

function answersOf(contract: Contract, at: number): readonly ListedMarket[] {
  return contract.event.markets.filter((market) => isListed(market, at));
}

function presentLiteAnswers(world: World, contract: Contract, at: number) {
  return answersOf(contract, at).map((market) => ({
    id: contract.answerIds.get(market),
    text: market.label,
    probability: answerProbabilityOf(world, contract, market, at),
  }));
}

/** Returns the probability from the answer's own resolution, or from its pool if it has none. */
function answerProbabilityOf(world: World, contract: Contract, market: ListedMarket, at: number): number {
  const resolution = contract.sumsToOne ? null : resolutionOf(world, market, at);
  return resolution === null || resolution.resolution === "CANCEL"
    ? manifoldProbability(world, market, at)
    : payoutOf(resolution);
}

/** Presents an answer as the venue stores it, which `/market/{id}/answers` and the socket send. */
export function presentStoredAnswer(world: World, contract: Contract, market: ListedMarket, at: number) {
  const probability = manifoldProbability(world, market, at);
  const activity = world.activity(market, at);
  const totalLiquidity = liquidityOf(activity.traderCount) / contract.event.markets.length;
  const probabilityChangeSince = (ms: number) =>
    at - ms < market.openAt ? 0 : probability - manifoldProbability(world, market, at - ms);
  const pool = poolOf(probability, totalLiquidity);
  const userId = userIdOf(creatorNumberOf(contract.event));
  return {
    id: contract.answerIds.get(market) ?? "",
    index: market.position,
    contractId: contract.id,
    createdTime: market.openAt,
    userId,
    text: market.label,
    isOther: /^(other|none|any other|another)\b/i.test(market.label),
    midpoint: midpointOf(contract, market),
    volume: activity.volumeUsd,
    totalLiquidity,
    subsidyPool: 0,
    poolYes: pool.YES,
    poolNo: pool.NO,
    prob: probability,
    probChanges: {
      day: probabilityChangeSince(DAY_MS),
      week: probabilityChangeSince(7 * DAY_MS),
      month: probabilityChangeSince(30 * DAY_MS),
    },
    ...presentAnswerResolution(world, contract, market, at),
  };
}

/**
 * Independent answers have their own resolution. Mutually exclusive answers have only its time, the probability before
 * it, and their payout as the current probability.
 */
function presentAnswerResolution(world: World, contract: Contract, market: ListedMarket, at: number) {
  const resolverId = userIdOf(creatorNumberOf(contract.event));
  if (!contract.sumsToOne) {
    const resolution = resolutionOf(world, market, at);
    if (resolution === null) return null;
    const isCancelled = resolution.resolution === "CANCEL";
    return { ...resolution, resolverId, ...(isCancelled ? null : { prob: payoutOf(resolution) }) };
  }
  const { isResolved, resolutionTime, resolutions } = contractStateOf(world, contract, at);
  if (!isResolved) return null;
  const resolutionProbability = manifoldProbability(world, market, at);
  const payout = (resolutions?.[contract.answerIds.get(market) ?? ""] ?? 0) / 100;
  return {
    resolutionTime,
    resolverId,
    resolutionProbability,
    ...(resolutions === undefined ? null : { prob: payout }),
  };
}

/** Presents an answer of a `FullMarket`. */
function presentAnswer(world: World, contract: Contract, market: ListedMarket, at: number) {
  const { poolYes, poolNo, prob: _prob, ...fields } = presentStoredAnswer(world, contract, market, at);
  const probability = answerProbabilityOf(world, contract, market, at);
  return { ...fields, pool: { YES: poolYes, NO: poolNo }, probability };
}

/** Presents a `FullMarket`: a `LiteMarket` with description, answers and topics. */
export function presentFullMarket(world: World, contract: Contract, at: number) {
  return {
    ...presentLiteMarket(world, contract, at),
    ...(contract.isMultiple
      ? {
          answers: answersOf(contract, at).map((market) => presentAnswer(world, contract, market, at)),
          shouldAnswersSumToOne: contract.sumsToOne,
          addAnswersMode: "DISABLED",
        }
      : {}),
    description: presentDescription(contract),
    textDescription: rulesOf(contract),
    coverImageUrl: null,
    groupSlugs: contract.groupSlugs,
  };
}

const rulesOf = ({ isMultiple, event }: Contract): string =>
  isMultiple ? event.description : (event.markets[0]?.rules ?? event.description);

function presentDescription(contract: Contract) {
  const paragraphs = rulesOf(contract).split("\n\n");
  return {
    type: "doc",
    content: paragraphs.map((text) => ({ type: "paragraph", content: [{ type: "text", text }] })),
  };
}

/** Presents a new contract as the venue stores it, which the socket sends: without `url` and `probability`. */
export function presentStoredContract(world: World, contract: Contract, at: number) {
  const { url: _url, probability, answers: _answers, ...fields } = presentLiteMarket(world, contract, at);
  const noChanges = { day: 0, week: 0, month: 0 };
  return {
    ...fields,
    description: presentDescription(contract),
    visibility: "public",
    creatorCreatedTime: contract.event.openAt,
    subsidyPool: 0,
    elasticity: 1,
    collectedFees: { creatorFee: 0, platformFee: 0, liquidityFee: 0 },
    uniqueBettorCountDay: 0,
    popularityScore: 0,
    importanceScore: 0,
    freshnessScore: 0,
    dailyScore: 0,
    conversionScore: 0,
    viewCount: 0,
    boosted: false,
    ...(contract.isMultiple
      ? {
          answers: answersOf(contract, at).map((market) => presentStoredAnswer(world, contract, market, at)),
          shouldAnswersSumToOne: contract.sumsToOne,
          addAnswersMode: "DISABLED",
          ...(contract.outcomeType === "MULTI_NUMERIC" ? { unit: "" } : null),
          ...(contract.outcomeType === "DATE" ? { timezone: "UTC" } : null),
        }
      : { prob: probability, initialProbability: probability, probChanges: noChanges }),
  };
}

/** Presents the response of `/prob`: one probability, or one per answer. */
export function presentProbability(world: World, contract: Contract, at: number) {
  const onlyMarket = contract.event.markets[0];
  if (!contract.isMultiple && onlyMarket !== undefined) return { prob: manifoldProbability(world, onlyMarket, at) };
  const answers = contract.event.markets.map((market) => presentStoredAnswer(world, contract, market, at));
  return { answerProbs: Object.fromEntries(answers.map(({ id, prob }) => [id, prob])) };
}

/**
 * Presents the fields of a contract that the socket sends after a change of one market's phase. Returns null if the
 * venue sends nothing: when the scheduled close time passes.
 */
export function presentLifecycle(world: World, contract: Contract, event: FeedEvent & { readonly kind: "lifecycle" }) {
  const { market, from, to, at } = event;
  const { resolutions, ...state } = contractStateOf(world, contract, at);
  const { id } = contract;
  const closing = { id, closeTime: state.closeTime, lastUpdatedTime: at };
  if (to === "closed") return at < market.closeAt ? closing : null;
  if (to === "active") return from === "closed" ? closing : null;
  if (to === "pending" || to === "paused") return null;
  // A result that was not disputed does not change when it becomes final.
  if (from === "determined" && to === "finalized" && !market.disputed) return null;
  const answers = contract.isMultiple
    ? answersOf(contract, at).map((answer) => presentStoredAnswer(world, contract, answer, at))
    : undefined;
  if (state.isResolved) return { id, ...state, resolutions, subsidyPool: 0, lastUpdatedTime: at, answers };
  if (to !== "disputed") return contract.sumsToOne ? null : { id, subsidyPool: 0, answers };
  // Null removes a value that an earlier message contained.
  const unresolved = { resolution: null, resolutionTime: null, resolutionProbability: null, resolverId: null };
  return { ...closing, isResolved: false, ...unresolved, answers };
}
