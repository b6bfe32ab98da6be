import type { World } from "../../world/types.ts";
import { lastBetTimeOf } from "./bets.ts";
import { type Contract, manifoldProbability } from "./contracts.ts";
import { flag, numeric, oneOf, type Params, text } from "./params.ts";
import { stateOf } from "./present.ts";

const DAY_MS = 86_400_000;
/** Larger offsets are rejected; clients page by `beforeTime` instead. */
const OFFSET_MAX = 1_000;

export const SEARCH_PARAMS = {
  term: text,
  filter: oneOf(
    "all",
    "open",
    "closed",
    "resolved",
    "news",
    "closing-day",
    "closing-week",
    "closing-month",
    "closing-90-days",
    "closing-this-month",
    "closing-next-month",
  ),
  sort: oneOf(
    "score",
    "newest",
    "daily-score",
    "freshness-score",
    "24-hour-vol",
    "most-popular",
    "liquidity",
    "subsidy",
    "last-updated",
    "close-date",
    "resolve-date",
    "start-time",
    "random",
    "bounty-amount",
    "prob-descending",
    "prob-ascending",
  ),
  contractType: oneOf(
    "ALL",
    "BINARY",
    "MULTIPLE_CHOICE",
    "DEPENDENT_MULTIPLE_CHOICE",
    "INDEPENDENT_MULTIPLE_CHOICE",
    "FREE_RESPONSE",
    "PSEUDO_NUMERIC",
    "BOUNTIED_QUESTION",
    "STONK",
    "POLL",
    "NUMBER",
    "MULTI_NUMERIC",
    "DATE",
    "PERP",
  ),
  offset: numeric(0, OFFSET_MAX),
  limit: numeric(0, 1_000),
  beforeTime: numeric(0, Number.MAX_SAFE_INTEGER),
  topicSlug: text,
  creatorId: text,
  liquidity: numeric(0, Number.MAX_SAFE_INTEGER),
  hasBets: oneOf("0", "1"),
  token: oneOf("MANA", "CASH", "ALL", "CASH_AND_MANA"),
  forYou: oneOf("0", "1"),
  isPrizeMarket: oneOf("0", "1", "true", "false"),
  gids: text,
  includeLiteAnswers: flag,
} as const;

type SearchParams = Params<typeof SEARCH_PARAMS>;

export function search(world: World, contracts: readonly Contract[], params: SearchParams, now: number): Contract[] {
  const terms = (params.term ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const matching = contracts.filter((contract) => {
    if (!isOfType(contract, params.contractType ?? "ALL") || params.token === "CASH") return false;
    if (params.topicSlug !== undefined && !contract.groupSlugs.includes(params.topicSlug)) return false;
    if (params.beforeTime !== undefined && contract.event.openAt >= params.beforeTime) return false;
    const title = contract.event.title.toLowerCase();
    return terms.every((term) => title.includes(term)) && matchesFilter(world, contract, params.filter ?? "all", now);
  });
  const offset = params.offset ?? 0;
  return sortContracts(world, matching, params.sort ?? "score", now).slice(offset, offset + (params.limit ?? 100));
}

function isOfType(contract: Contract, type: NonNullable<SearchParams["contractType"]>): boolean {
  if (type === "ALL") return true;
  if (type === "BINARY") return !contract.isMultiple;
  if (type === "MULTIPLE_CHOICE") return contract.isMultiple;
  if (type === "DEPENDENT_MULTIPLE_CHOICE") return contract.isMultiple && contract.sumsToOne;
  return type === "INDEPENDENT_MULTIPLE_CHOICE" && contract.isMultiple && !contract.sumsToOne;
}

const CLOSING_DAYS: Readonly<Record<string, number>> = {
  "closing-day": 1,
  "closing-week": 7,
  "closing-month": 30,
  "closing-this-month": 30,
  "closing-next-month": 60,
  "closing-90-days": 90,
};

function matchesFilter(world: World, contract: Contract, filter: string, now: number): boolean {
  if (filter === "all") return true;
  const { isResolved, closeTime } = stateOf(world, contract, now);
  if (filter === "resolved") return isResolved;
  if (isResolved) return false;
  if (filter === "closed") return closeTime <= now;
  const days = CLOSING_DAYS[filter];
  return closeTime > now && (days === undefined || closeTime <= now + days * DAY_MS);
}

function sortContracts(
  world: World,
  contracts: Contract[],
  by: NonNullable<SearchParams["sort"]>,
  now: number,
): Contract[] {
  const key = sortKey(world, by, now);
  const keyed = contracts.map((contract) => ({ contract, key: key(contract) }));
  keyed.sort((a, b) => a.key - b.key || b.contract.event.openAt - a.contract.event.openAt);
  return keyed.map(({ contract }) => contract);
}

/** Returns the sort key of a contract; smaller keys come first. */
function sortKey(world: World, by: NonNullable<SearchParams["sort"]>, now: number): (contract: Contract) => number {
  const activity = (contract: Contract) => contract.event.markets.map((market) => world.activity(market, now));
  const probability = (contract: Contract) => {
    const only = contract.event.markets[0];
    return contract.isMultiple || only === undefined ? 0 : manifoldProbability(world, only, now);
  };
  switch (by) {
    case "newest":
      return (contract) => -contract.event.openAt;
    case "close-date":
      return (contract) => stateOf(world, contract, now).closeTime;
    case "resolve-date":
      return (contract) => -(stateOf(world, contract, now).resolutionTime ?? 0);
    case "last-updated":
      return (contract) => -(lastBetTimeOf(world, contract.event.markets, now) ?? 0);
    case "24-hour-vol":
      return (contract) => -activity(contract).reduce((sum, { volume24hUsd }) => sum + (volume24hUsd ?? 0), 0);
    case "prob-ascending":
      return probability;
    case "prob-descending":
      return (contract) => -probability(contract);
    default:
      return (contract) => -activity(contract).reduce((sum, { traderCount }) => sum + (traderCount ?? 0), 0);
  }
}
