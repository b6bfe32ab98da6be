import { type FeedEvent, isListed, type ListedMarket, type World } from "../../world/types.ts";
import { lastBetTimeOf } from "./bets.ts";
import {
  type Contract,
  closeTimeOf,
  liquidityOf,
  manifoldProbability,
  poolOf,
  type Resolution,
  resolutionOf,
} from "./contracts.ts";
import { manifoldUrl } from "./ids.ts";

export interface ContractState {
  readonly closeTime: number;
  readonly isResolved: boolean;
  readonly resolution?: string;
  readonly resolutionTime?: number;
  readonly resolutionProbability?: number;
  /** Payout in percent, by id of each winning answer if answers are mutually exclusive. Not in REST responses. */
  readonly resolutions?: Readonly<Record<string, number>>;
}

/** Returns the state of a contract. It is resolved when all of its markets are resolved. */
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
  const traderCounts = event.markets.map((market) => world.activity(market, at).traderCount ?? 0);
  const onlyMarket = contract.isMultiple ? undefined : event.markets[0];
  const recordedUrl = event.recorded?.url ?? event.markets[0]?.recorded?.url ?? null;
  const probability = onlyMarket === undefined ? undefined : manifoldProbability(world, onlyMarket, at);
  const totalLiquidity = liquidityOf(Math.max(...traderCounts));
  const { resolutions: _resolutions, ...state } = contractStateOf(world, contract, at);
  const lastBetTime = lastBetTimeOf(world, event.markets, at);
  return {
    id: contract.id,
    createdTime: event.openAt,
    question: event.title,
    url: recordedUrl ?? manifoldUrl(event),
    outcomeType: contract.outcomeType,
    mechanism: contract.isMultiple ? "cpmm-multi-1" : "cpmm-1",
    pool: probability === undefined ? undefined : poolOf(probability, totalLiquidity),
    p: probability === undefined ? undefined : 0.5,
    probability,
    ...state,
    lastUpdatedTime: Math.max(lastBetTime ?? event.openAt, state.resolutionTime ?? 0),
    answers: includeAnswers && contract.isMultiple ? presentLiteAnswers(world, contract, at) : undefined,
  };
}

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

/** Presents an answer of a `FullMarket`. A mutually exclusive answer has a resolution time, but no own resolution. */
function presentAnswer(world: World, contract: Contract, market: ListedMarket, at: number) {
  const probability = manifoldProbability(world, market, at);
  const { isResolved, resolutionTime } = contractStateOf(world, contract, at);
  const exclusiveResolution = isResolved ? { resolutionTime, resolutionProbability: probability } : null;
  return {
    id: contract.answerIds.get(market),
    index: market.position,
    contractId: contract.id,
    createdTime: market.openAt,
    text: market.label,
    pool: poolOf(probability, liquidityOf(world.activity(market, at).traderCount) / contract.event.markets.length),
    probability: answerProbabilityOf(world, contract, market, at),
    ...(contract.sumsToOne ? exclusiveResolution : resolutionOf(world, market, at)),
  };
}

/** Presents a `FullMarket`: a `LiteMarket` with description, answers and topics. */
export function presentFullMarket(world: World, contract: Contract, at: number) {
  return {
    ...presentLiteMarket(world, contract, at),
    ...(contract.isMultiple
      ? {
          answers: answersOf(contract, at).map((market) => presentAnswer(world, contract, market, at)),
          shouldAnswersSumToOne: contract.sumsToOne,
        }
      : {}),
    textDescription: contract.isMultiple
      ? contract.event.description
      : (contract.event.markets[0]?.rules ?? contract.event.description),
    groupSlugs: contract.groupSlugs,
  };
}

/** Presents a new contract in the venue's internal format, which the socket sends: without `url` and `probability`. */
export function presentStoredContract(world: World, contract: Contract, at: number) {
  const { url: _url, probability, ...fields } = presentLiteMarket(world, contract, at);
  return contract.isMultiple
    ? { ...fields, answers: presentStoredAnswers(world, contract, at), shouldAnswersSumToOne: contract.sumsToOne }
    : { ...fields, prob: probability };
}

/** Returns the id and probability of each answer. In a resolved contract, the probability is the payout. */
function presentStoredAnswers(world: World, contract: Contract, at: number) {
  const { resolutions } = contractStateOf(world, contract, at);
  return answersOf(contract, at).map((market) => {
    const id = contract.answerIds.get(market) ?? "";
    const prob =
      resolutions === undefined ? answerProbabilityOf(world, contract, market, at) : (resolutions[id] ?? 0) / 100;
    return { id, prob };
  });
}

/** Presents the response of `/prob`: one probability, or one per answer. */
export function presentProbability(world: World, contract: Contract, at: number) {
  const onlyMarket = contract.event.markets[0];
  if (!contract.isMultiple && onlyMarket !== undefined) return { prob: manifoldProbability(world, onlyMarket, at) };
  return {
    answerProbs: Object.fromEntries(presentStoredAnswers(world, contract, at).map(({ id, prob }) => [id, prob])),
  };
}

/**
 * Presents the fields of a contract that the socket sends after the phase of one of its markets has changed. Returns
 * null if the venue sends nothing, for example at the scheduled closing time.
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
  const answers = contract.isMultiple ? presentStoredAnswers(world, contract, at) : undefined;
  if (state.isResolved) return { id, ...state, resolutions, lastUpdatedTime: at, answers };
  if (to !== "disputed") return contract.sumsToOne ? null : { id, answers };
  // Null removes a value that an earlier message contained.
  const unresolved = { resolution: null, resolutionTime: null, resolutionProbability: null };
  return { ...closing, isResolved: false, ...unresolved, answers };
}
