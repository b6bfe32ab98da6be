import type { FastifyInstance } from "fastify";
import { VenueError } from "../errors.ts";
import type { ExchangeContext } from "../exchange.ts";
import { anonymousClientOf, createClientStates } from "../rate-limits.ts";
import { type Bet, type LinkedMarkets, linkedMarketsOf, listBets } from "./bets.ts";
import type { Contract, Contracts } from "./contracts.ts";
import { booleanParam, numberParam, type Params, parseParams, textParam } from "./params.ts";
import { presentFullMarket, presentLiteMarket, presentProbability } from "./present.ts";
import { SEARCH_PARAMS, searchContracts } from "./search.ts";

const REQUESTS_PER_WINDOW_MAX = 500;
const LIMIT_WINDOW_MS = 60_000;
const TIME_PARAM = numberParam(0, Number.MAX_SAFE_INTEGER);
const BETS_MAX = 1_000;
const BET_POINTS_MAX = 50_000;
const BET_POINTS_DEFAULT = 5_000;

const BETS_PARAMS = {
  contractId: textParam,
  answerId: textParam,
  limit: numberParam(0, BETS_MAX),
  beforeTime: TIME_PARAM,
  afterTime: TIME_PARAM,
  filterRedemptions: booleanParam,
  includeZeroShareRedemptions: booleanParam,
} as const;

const BET_POINTS_PARAMS = { ...BETS_PARAMS, limit: numberParam(0, BET_POINTS_MAX) } as const;

export function installRestRoutes(app: FastifyInstance, context: ExchangeContext, contracts: Contracts): void {
  const { world, now } = context;
  const requestTimesOf = createClientStates<number[]>(() => []);

  /** @throws VenueError 404 if the contract does not exist */
  const contractOf = (id: string | undefined): Contract => {
    const contract = contracts.findById(id ?? "");
    if (contract === null) throw new VenueError(404, "Contract not found");
    return contract;
  };

  /** @throws VenueError 429 if the client has sent the maximum number of requests in the last minute */
  const countRequest = (client: string) => {
    const times = requestTimesOf(client);
    const at = now();
    while (times[0] !== undefined && times[0] <= at - LIMIT_WINDOW_MS) times.shift();
    if (times.length >= REQUESTS_PER_WINDOW_MAX)
      throw new VenueError(429, "Too many requests, please try again later.");
    times.push(at);
  };

  const registerGet = (path: string, handle: (query: unknown, params: Readonly<Record<string, string>>) => unknown) => {
    app.get(`/v0/${path}`, async (request) => {
      if (context.enforceLimits) countRequest(anonymousClientOf(request));
      return handle(request.query, request.params as Record<string, string>);
    });
  };

  registerGet("search-markets", (query) => {
    const params = parseParams(query, SEARCH_PARAMS);
    const page = searchContracts(world, contracts.list(), params, now());
    return page.map((contract) => presentLiteMarket(world, contract, now(), params.includeLiteAnswers === true));
  });
  registerGet("market/:id", (query, { id }) => {
    parseParams(query, {});
    return presentFullMarket(world, contractOf(id), now());
  });
  registerGet("market/:id/prob", (query, { id }) => {
    parseParams(query, {});
    return presentProbability(world, contractOf(id), now());
  });
  registerGet("bets", (query) => {
    const params = parseParams(query, BETS_PARAMS);
    return findBets(context, contracts, params, params.limit ?? BETS_MAX);
  });
  registerGet("bet-points", (query) => {
    const params = parseParams(query, BET_POINTS_PARAMS);
    const missingNames = (["contractId", "beforeTime", "afterTime"] as const).filter(
      (name) => params[name] === undefined,
    );
    if (missingNames.length > 0) {
      const details = missingNames.map((field) => ({ field, error: "Required" }));
      throw new VenueError(400, "Error validating request.", details);
    }
    const bets = findBets(context, contracts, params, Number.POSITIVE_INFINITY);
    // The venue sorts by bet id, which is random.
    const reversedIdOf = ({ id }: Bet) => [...id].reverse().join("");
    return bets
      .map((bet) => ({ bet, key: reversedIdOf(bet) }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .slice(0, params.limit ?? BET_POINTS_DEFAULT)
      .map(({ bet: { createdTime, probBefore, probAfter, answerId } }) => {
        return { createdTime, probBefore, probAfter, answerId };
      });
  });
}

/** Returns at most `limit` bets, newest first. The redemption parameters select which redemptions are included. */
function findBets(
  { world, now }: ExchangeContext,
  contracts: Contracts,
  params: Params<typeof BETS_PARAMS>,
  limit: number,
): Bet[] {
  const { answerId, filterRedemptions, includeZeroShareRedemptions, beforeTime, afterTime = 0 } = params;
  const end = now() + 1;
  return listBets(world, linkedMarketsFor(contracts, params), {
    afterTime,
    beforeTime: Math.min(beforeTime ?? end, end),
    limit,
    selection: {
      answerId: answerId ?? null,
      withMoves: includeZeroShareRedemptions === true && filterRedemptions !== true,
    },
    accepts: (bet) => filterRedemptions !== true || !bet.isRedemption,
  });
}

/** Returns the markets whose bets are requested, or all markets if the request includes no contract. */
function linkedMarketsFor(
  contracts: Contracts,
  { contractId, answerId }: Params<typeof BETS_PARAMS>,
): readonly LinkedMarkets[] {
  const contract = contractId === undefined ? null : contracts.findById(contractId);
  const selectedContracts = contractId === undefined ? contracts.list() : contract === null ? [] : [contract];
  return selectedContracts.flatMap((contract) => {
    const markets = contract.event.markets.filter(
      (market) => answerId === undefined || (contract.isMultiple && contract.answerIds.get(market) === answerId),
    );
    // Mutually exclusive answers form one group, because a bet on any of them may change the requested one.
    return (contract.sumsToOne ? markets.slice(0, 1) : markets).map((market) => linkedMarketsOf(contract, market));
  });
}
