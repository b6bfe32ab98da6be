import { DAY_MS } from "../../../src/lib/durations.ts";
import type { World } from "../../world/types.ts";
import { lastBetTimeOf } from "./bets.ts";
import { type Contract, manifoldProbability } from "./contracts.ts";
import { booleanParam, enumParam, numberParam, type Params, textParam } from "./params.ts";
import { contractStateOf } from "./present.ts";

/** Requests with a larger offset are rejected; clients read older contracts with `beforeTime`. */
const OFFSET_MAX = 1_000;

export const SEARCH_PARAMS = {
  term: textParam,
  filter: enumParam(
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
  sort: enumParam(
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
  contractType: enumParam(
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
  offset: numberParam(0, OFFSET_MAX),
  limit: numberParam(1, 1_000),
  beforeTime: numberParam(0, Number.MAX_SAFE_INTEGER),
  topicSlug: textParam,
  creatorId: textParam,
  liquidity: numberParam(0, Number.MAX_SAFE_INTEGER),
  hasBets: enumParam("0", "1"),
  token: enumParam("MANA", "CASH", "ALL", "CASH_AND_MANA"),
  forYou: enumParam("0", "1"),
  isPrizeMarket: enumParam("0", "1", "true", "false"),
  gids: textParam,
  includeLiteAnswers: booleanParam,
} as const;

type SearchParams = Params<typeof SEARCH_PARAMS>;

export function searchContracts(
  world: World,
  contracts: readonly Contract[],
  params: SearchParams,
  now: number,
): Contract[] {
  const terms = (params.term ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const matchingContracts = contracts.filter((contract) => {
    if (!isOfType(contract, params.contractType ?? "ALL") || params.token === "CASH") return false;
    if (params.topicSlug !== undefined && !contract.groupSlugs.includes(params.topicSlug)) return false;
    if (params.beforeTime !== undefined && contract.event.openAt >= params.beforeTime) return false;
    const title = contract.event.title.toLowerCase();
    return terms.every((term) => title.includes(term)) && matchesFilter(world, contract, params.filter ?? "all", now);
  });
  const offset = params.offset ?? 0;
  return sortContracts(world, matchingContracts, params.sort ?? "score", now).slice(
    offset,
    offset + (params.limit ?? 100),
  );
}

function isOfType({ outcomeType, sumsToOne }: Contract, type: NonNullable<SearchParams["contractType"]>): boolean {
  if (type === "ALL") return true;
  if (type === "DEPENDENT_MULTIPLE_CHOICE") return outcomeType === "MULTIPLE_CHOICE" && sumsToOne;
  if (type === "INDEPENDENT_MULTIPLE_CHOICE") return outcomeType === "MULTIPLE_CHOICE" && !sumsToOne;
  // The venue shows both kinds of numbers in one list.
  return type === outcomeType || (type === "PSEUDO_NUMERIC" && outcomeType === "MULTI_NUMERIC");
}

const CLOSING_DAYS_BY_FILTER: Readonly<Record<string, number>> = {
  "closing-day": 1,
  "closing-week": 7,
  "closing-month": 30,
  "closing-this-month": 30,
  "closing-next-month": 60,
  "closing-90-days": 90,
};

function matchesFilter(world: World, contract: Contract, filter: string, now: number): boolean {
  if (filter === "all") return true;
  const { isResolved, closeTime } = contractStateOf(world, contract, now);
  if (filter === "resolved") return isResolved;
  if (isResolved) return false;
  if (filter === "closed") return closeTime <= now;
  const days = CLOSING_DAYS_BY_FILTER[filter];
  return closeTime > now && (days === undefined || closeTime <= now + days * DAY_MS);
}

function sortContracts(
  world: World,
  contracts: Contract[],
  sortOrder: NonNullable<SearchParams["sort"]>,
  now: number,
): Contract[] {
  const key = createSortKey(world, sortOrder, now);
  const contractsWithKeys = contracts.map((contract) => ({ contract, key: key(contract) }));
  contractsWithKeys.sort((a, b) => a.key - b.key || b.contract.event.openAt - a.contract.event.openAt);
  return contractsWithKeys.map(({ contract }) => contract);
}

/** Returns the sort key of a contract; smaller keys come first. */
function createSortKey(
  world: World,
  sortOrder: NonNullable<SearchParams["sort"]>,
  now: number,
): (contract: Contract) => number {
  const activitiesOf = (contract: Contract) => contract.event.markets.map((market) => world.activity(market, now));
  const probabilityOf = (contract: Contract) => {
    const onlyMarket = contract.event.markets[0];
    return contract.isMultiple || onlyMarket === undefined ? 0 : manifoldProbability(world, onlyMarket, now);
  };
  switch (sortOrder) {
    case "newest":
      return (contract) => -contract.event.openAt;
    case "close-date":
      return (contract) => contractStateOf(world, contract, now).closeTime;
    case "resolve-date":
      return (contract) => -(contractStateOf(world, contract, now).resolutionTime ?? 0);
    case "last-updated":
      return (contract) => -(lastBetTimeOf(world, contract.event.markets, now) ?? 0);
    case "24-hour-vol":
      return (contract) => -activitiesOf(contract).reduce((sum, { volume24hUsd }) => sum + (volume24hUsd ?? 0), 0);
    case "prob-ascending":
      return probabilityOf;
    case "prob-descending":
      return (contract) => -probabilityOf(contract);
    default:
      return (contract) => -activitiesOf(contract).reduce((sum, { traderCount }) => sum + (traderCount ?? 0), 0);
  }
}
