import type { World } from "../../world/types.ts";
import { lastBetTimeOf } from "./bets.ts";
import type { Contract } from "./contracts.ts";
import { booleanParam, enumParam, numberParam, type Params } from "./params.ts";
import { contractStateOf } from "./present.ts";

/** Maximum offset of a request. Clients read older contracts with `beforeTime`. */
const OFFSET_MAX = 1_000;
const ROWS_MAX = 1_000;
const ROWS_DEFAULT = 100;

export const SEARCH_PARAMS = {
  filter: enumParam("open"),
  sort: enumParam("newest", "last-updated"),
  contractType: enumParam(
    "BINARY",
    "DEPENDENT_MULTIPLE_CHOICE",
    "INDEPENDENT_MULTIPLE_CHOICE",
    "NUMBER",
    "MULTI_NUMERIC",
    "DATE",
  ),
  offset: numberParam(0, OFFSET_MAX),
  limit: numberParam(1, ROWS_MAX),
  beforeTime: numberParam(0, Number.MAX_SAFE_INTEGER),
  includeLiteAnswers: booleanParam,
} as const;

type SearchParams = Params<typeof SEARCH_PARAMS>;

/** Returns one page of the matching contracts, newest or last changed first. */
export function searchContracts(
  world: World,
  contracts: readonly Contract[],
  params: SearchParams,
  now: number,
): Contract[] {
  const offset = params.offset ?? 0;
  const keyOf =
    params.sort === "last-updated"
      ? (contract: Contract) => lastBetTimeOf(world, contract.event.markets, now) ?? 0
      : (contract: Contract) => contract.event.openAt;
  return contracts
    .filter((contract) => isOfType(contract, params.contractType))
    .filter(({ event }) => params.beforeTime === undefined || event.openAt < params.beforeTime)
    .filter((contract) => params.filter === undefined || isOpen(world, contract, now))
    .map((contract) => ({ contract, key: keyOf(contract) }))
    .sort((a, b) => b.key - a.key || b.contract.event.openAt - a.contract.event.openAt)
    .slice(offset, offset + (params.limit ?? ROWS_DEFAULT))
    .map(({ contract }) => contract);
}

function isOfType({ outcomeType, sumsToOne }: Contract, type: SearchParams["contractType"]): boolean {
  if (type === "DEPENDENT_MULTIPLE_CHOICE") return outcomeType === "MULTIPLE_CHOICE" && sumsToOne;
  if (type === "INDEPENDENT_MULTIPLE_CHOICE") return outcomeType === "MULTIPLE_CHOICE" && !sumsToOne;
  return type === undefined || type === outcomeType;
}

function isOpen(world: World, contract: Contract, now: number): boolean {
  const { isResolved, closeTime } = contractStateOf(world, contract, now);
  return !isResolved && closeTime > now;
}
