import { isListed, type ListedMarket, type World } from "../../world/types.ts";
import { lastBetTimeOf } from "./bets.ts";
import {
  type Contract,
  closeTimeOf,
  creatorNumberOf,
  liquidityOf,
  manifoldProbability,
  poolOf,
  type Resolution,
  resolutionOf,
} from "./contracts.ts";
import { displayNameOf, userIdOf, userNameOf } from "./ids.ts";

const DAY_MS = 86_400_000;

export interface ContractState {
  readonly closeTime: number;
  readonly isResolved: boolean;
  readonly resolution?: string;
  readonly resolutionTime?: number;
  readonly resolutionProbability?: number;
  /** Payout in percent by answer id if several answers win. */
  readonly resolutions?: Readonly<Record<string, number>>;
}

export function contractStateOf(world: World, contract: Contract, at: number): ContractState {
  const closeTime = closeTimeOf(world, contract, at);
  const { markets } = contract.event;
  const resolutions = markets
    .map((market) => resolutionOf(world, market, at))
    .filter((resolution) => resolution !== null);
  const firstResolution = resolutions[0];
  if (firstResolution === undefined || resolutions.length < markets.length) return { closeTime, isResolved: false };
  const resolutionTime = Math.max(...resolutions.map((resolution) => resolution.resolutionTime));
  const resolvedFields = { closeTime: Math.min(closeTime, resolutionTime), isResolved: true, resolutionTime };
  if (!contract.isMultiple) {
    return {
      ...resolvedFields,
      resolution: firstResolution.resolution,
      resolutionProbability: firstResolution.resolutionProbability,
    };
  }
  return { ...resolvedFields, ...presentGroupResolution(contract, resolutions) };
}

function presentGroupResolution(contract: Contract, resolutions: readonly Resolution[]) {
  if (resolutions.every(({ resolution }) => resolution === "CANCEL")) return { resolution: "CANCEL" };
  if (!contract.sumsToOne) return { resolution: "MKT" };
  const ids = [...contract.answerIds.values()];
  const winningAnswerIds = ids.filter((_, position) => resolutions[position]?.resolution === "YES");
  if (winningAnswerIds.length === 1) return { resolution: winningAnswerIds[0] };
  const answerPayouts = ids
    .map((id, position) => [id, payoutPercentOf(resolutions[position])] as const)
    .filter(([, share]) => share > 0);
  return { resolution: "CHOOSE_MULTIPLE", resolutions: Object.fromEntries(answerPayouts) };
}

function payoutPercentOf(resolution: Resolution | undefined): number {
  if (resolution?.resolution === "YES") return 100;
  return resolution?.resolution === "MKT" ? 100 * resolution.resolutionProbability : 0;
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
  const { resolutions: _, ...state } = contractStateOf(world, contract, at);
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
    outcomeType: contract.isMultiple ? "MULTIPLE_CHOICE" : "BINARY",
    mechanism: contract.isMultiple ? "cpmm-multi-1" : "cpmm-1",
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

/** Independent answers have probability 1 or 0 after resolution. Answers that sum to one keep their last probability. */
function answerProbabilityOf(world: World, contract: Contract, market: ListedMarket, at: number): number {
  const resolution = contract.sumsToOne ? null : resolutionOf(world, market, at);
  if (resolution?.resolution === "YES") return 1;
  if (resolution?.resolution === "NO") return 0;
  return resolution?.resolution === "MKT" ? resolution.resolutionProbability : manifoldProbability(world, market, at);
}

export function presentAnswer(world: World, contract: Contract, market: ListedMarket, at: number) {
  const probability = manifoldProbability(world, market, at);
  const activity = world.activity(market, at);
  const totalLiquidity = liquidityOf(activity.traderCount) / contract.event.markets.length;
  const probabilityChangeSince = (ms: number) =>
    at - ms < market.openAt ? 0 : probability - manifoldProbability(world, market, at - ms);
  return {
    id: contract.answerIds.get(market),
    index: market.position,
    contractId: contract.id,
    createdTime: market.openAt,
    userId: userIdOf(creatorNumberOf(contract.event)),
    text: market.label,
    isOther: /^(other|none|any other|another)\b/i.test(market.label),
    volume: activity.volumeUsd,
    totalLiquidity,
    subsidyPool: 0,
    pool: poolOf(probability, totalLiquidity),
    probability: answerProbabilityOf(world, contract, market, at),
    probChanges: {
      day: probabilityChangeSince(DAY_MS),
      week: probabilityChangeSince(7 * DAY_MS),
      month: probabilityChangeSince(30 * DAY_MS),
    },
    ...(contract.sumsToOne ? null : resolutionOf(world, market, at)),
  };
}

/** Presents a `FullMarket`: a `LiteMarket` with description, answers and topics. */
export function presentFullMarket(world: World, contract: Contract, at: number) {
  const { event } = contract;
  const rules = contract.isMultiple ? event.description : (event.markets[0]?.rules ?? event.description);
  const { resolutions } = contractStateOf(world, contract, at);
  return {
    ...presentLiteMarket(world, contract, at),
    resolutions,
    ...(contract.isMultiple
      ? {
          answers: answersOf(contract, at).map((market) => presentAnswer(world, contract, market, at)),
          shouldAnswersSumToOne: contract.sumsToOne,
          addAnswersMode: "DISABLED",
        }
      : {}),
    description: {
      type: "doc",
      content: rules.split("\n\n").map((text) => ({ type: "paragraph", content: [{ type: "text", text }] })),
    },
    textDescription: rules,
    coverImageUrl: null,
    groupSlugs: contract.groupSlugs,
  };
}

/** Presents the response of `/prob`: one probability, or one per answer. */
export function presentProbability(world: World, contract: Contract, at: number) {
  const onlyMarket = contract.event.markets[0];
  if (!contract.isMultiple && onlyMarket !== undefined) return { prob: manifoldProbability(world, onlyMarket, at) };
  const probabilities = contract.answerIds
    .entries()
    .map(([market, id]) => [id, answerProbabilityOf(world, contract, market, at)] as const);
  return { answerProbs: Object.fromEntries(probabilities) };
}
