import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ExchangeContext } from "../exchange.ts";
import { type Bet, findBetTime, type LinkedMarkets, lastBetTimeOf, linkedMarketsOf, listBets } from "./bets.ts";
import { type Contract, type Contracts, creatorNumberOf } from "./contracts.ts";
import { userIdOf } from "./ids.ts";
import { createRateLimiter } from "./limits.ts";
import {
  ApiError,
  booleanParam,
  enumParam,
  numberParam,
  type Params,
  parseParams,
  textListParam,
  textParam,
} from "./params.ts";
import { presentFullMarket, presentLiteMarket, presentProbability, presentStoredAnswer } from "./present.ts";
import { SEARCH_PARAMS, searchContracts } from "./search.ts";
import { findTopic, listTopics } from "./topics.ts";

const TIME_PARAM = numberParam(0, Number.MAX_SAFE_INTEGER);
const BETS_MAX = 1_000;
const BET_POINTS_MAX = 50_000;
const BET_POINTS_DEFAULT = 5_000;
const MARKET_PROBS_IDS_MAX = 100;

const MARKETS_PARAMS = {
  limit: numberParam(0, 1_000),
  sort: enumParam("created-time", "updated-time", "last-bet-time", "last-comment-time"),
  order: enumParam("asc", "desc"),
  before: textParam,
  userId: textParam,
  groupId: textParam,
} as const;

const BETS_PARAMS = {
  id: textParam,
  userId: textParam,
  contractId: textListParam,
  contractSlug: textParam,
  answerId: textParam,
  limit: numberParam(0, BETS_MAX),
  before: textParam,
  after: textParam,
  beforeTime: TIME_PARAM,
  afterTime: TIME_PARAM,
  order: enumParam("asc", "desc"),
  kinds: enumParam("open-limit"),
  minAmount: numberParam(Number.MIN_VALUE, Number.MAX_SAFE_INTEGER),
  filterRedemptions: booleanParam,
  includeZeroShareRedemptions: booleanParam,
} as const;

const BET_POINTS_PARAMS = {
  contractId: textParam,
  answerId: textParam,
  limit: numberParam(0, BET_POINTS_MAX),
  beforeTime: TIME_PARAM,
  afterTime: TIME_PARAM,
  filterRedemptions: booleanParam,
  includeZeroShareRedemptions: booleanParam,
} as const;

export function installRestRoutes(app: FastifyInstance, context: ExchangeContext, contracts: Contracts): void {
  const { world, now } = context;
  const isWithinLimit = createRateLimiter(now);

  const contractOf = (id: string | undefined): Contract => requireContract(contracts.findById(id ?? ""));
  const presentMarket = (query: unknown, find: () => Contract) => {
    const { lite } = parseParams(query, { lite: booleanParam });
    const contract = find();
    return lite === true ? presentLiteMarket(world, contract, now()) : presentFullMarket(world, contract, now());
  };

  /** Registers a GET route. An `ApiError` thrown by the handler becomes the response. */
  const registerGet = (path: string, handle: (query: unknown, params: Readonly<Record<string, string>>) => unknown) => {
    app.get(`/v0/${path}`, (request: FastifyRequest, reply: FastifyReply) => {
      if (context.enforceLimits && !isWithinLimit(clientKeyOf(request))) {
        return reply.code(429).send({ message: "Too many requests, please try again later." });
      }
      try {
        return reply.send(handle(request.query, request.params as Record<string, string>));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const { status, message, details } = error;
        return reply.code(status).send({ message, details });
      }
    });
  };

  registerGet("search-markets", (query) => {
    const params = parseParams(query, SEARCH_PARAMS);
    const page = searchContracts(world, contracts.list(), params, now());
    return page.map((contract) => presentLiteMarket(world, contract, now(), params.includeLiteAnswers === true));
  });
  registerGet("markets", (query) => {
    const params = parseParams(query, MARKETS_PARAMS);
    return listMarkets(context, contracts, params).map((contract) => presentLiteMarket(world, contract, now()));
  });
  registerGet("market/:id", (query, { id }) => presentMarket(query, () => contractOf(id)));
  registerGet("slug/:slug", (query, { slug }) =>
    presentMarket(query, () => requireContract(contracts.findBySlug(slug ?? ""))),
  );
  registerGet("market/:id/answers", (query, { id }) => {
    parseParams(query, {});
    const contract = contractOf(id);
    if (!contract.isMultiple) return [];
    return contract.event.markets.map((market) => presentStoredAnswer(world, contract, market, now()));
  });
  registerGet("market/:id/prob", (query, { id }) => {
    parseParams(query, {});
    return presentProbability(world, contractOf(id), now());
  });
  registerGet("market-probs", (query) => {
    const { ids } = parseParams(query, { ids: textListParam });
    if (ids === undefined || ids.length > MARKET_PROBS_IDS_MAX) {
      throw new ApiError(400, "Error validating request.", [{ field: "ids", error: "expected 1 to 100 ids" }]);
    }
    const selectedContracts = ids.map((id) => contracts.findById(id)).filter((contract) => contract !== null);
    return Object.fromEntries(
      selectedContracts.map((contract) => [contract.id, presentProbability(world, contract, now())]),
    );
  });
  registerGet("bets", (query) => {
    const params = parseParams(query, BETS_PARAMS);
    // The sandbox has no resting limit orders, because the pool fills every simulated bet.
    if (params.kinds === "open-limit") return [];
    const bets = findBets(context, contracts, params, params.limit ?? BETS_MAX);
    return params.order === "asc" ? bets.reverse() : bets;
  });
  registerGet("bet-points", (query) => {
    const params = parseParams(query, BET_POINTS_PARAMS);
    const missingNames = (["contractId", "beforeTime", "afterTime"] as const).filter(
      (name) => params[name] === undefined,
    );
    if (missingNames.length > 0) {
      const details = missingNames.map((field) => ({ field, error: "Required" }));
      throw new ApiError(400, "Error validating request.", details);
    }
    const { contractId, limit, ...otherParams } = params;
    const bets = findBets(context, contracts, { ...otherParams, contractId: [contractId ?? ""] });
    // The venue sorts by bet id, which is random.
    const reversedIdOf = ({ id }: Bet) => [...id].reverse().join("");
    return bets
      .map((bet) => ({ bet, key: reversedIdOf(bet) }))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .slice(0, limit ?? BET_POINTS_DEFAULT)
      .map(({ bet: { createdTime, probBefore, probAfter, answerId } }) => {
        return { createdTime, probBefore, probAfter, answerId };
      });
  });
  registerGet("groups", (query) => {
    const params = parseParams(query, {
      beforeTime: TIME_PARAM,
      availableToUserId: textParam,
      limit: numberParam(0, 1_000),
    });
    return listTopics(contracts, params.beforeTime ?? Number.POSITIVE_INFINITY).slice(0, params.limit);
  });
  registerGet("group/:slug", (query, { slug }) => {
    parseParams(query, {});
    const topic = findTopic(contracts, (candidate) => candidate.slug === slug);
    if (topic === null) throw new ApiError(404, "Group not found");
    return topic;
  });
}

/** @throws ApiError 404 if the contract is null */
function requireContract(contract: Contract | null): Contract {
  if (contract === null) throw new ApiError(404, "Contract not found");
  return contract;
}

function listMarkets(
  context: ExchangeContext,
  contracts: Contracts,
  params: Params<typeof MARKETS_PARAMS>,
): Contract[] {
  const { world, now } = context;
  const topic = params.groupId === undefined ? null : findTopic(contracts, ({ id }) => id === params.groupId);
  if (params.groupId !== undefined && topic === null) return [];
  const sortKeyOf = (contract: Contract): number =>
    params.sort === "last-bet-time" || params.sort === "updated-time"
      ? (lastBetTimeOf(world, contract.event.markets, now()) ?? 0)
      : contract.event.openAt;
  const sign = params.order === "asc" ? 1 : -1;
  const sortedContracts = contracts
    .list()
    .filter((contract) => topic === null || contract.groupSlugs.includes(topic.slug))
    .filter(({ event }) => params.userId === undefined || userIdOf(creatorNumberOf(event)) === params.userId)
    .map((contract) => ({ contract, key: sortKeyOf(contract) }))
    .sort((a, b) => sign * (a.key - b.key || a.contract.event.index - b.contract.event.index))
    .map(({ contract }) => contract);
  let start = 0;
  if (params.before !== undefined) {
    start = sortedContracts.findIndex((contract) => contract.id === params.before) + 1;
    if (start === 0) throw new ApiError(404, "Contract specified in before parameter not found");
  }
  return sortedContracts.slice(start, start + (params.limit ?? 500));
}

type BetsParams = Omit<Params<typeof BETS_PARAMS>, "limit" | "order" | "kinds">;

function findBets(
  context: ExchangeContext,
  contracts: Contracts,
  params: BetsParams,
  limit = Number.POSITIVE_INFINITY,
): Bet[] {
  const { world, now } = context;
  const at = now();
  const betTimeOf = (id: string | undefined, name: string): number | null => {
    if (id === undefined) return null;
    const time = findBetTime(world, contracts, id, at);
    if (time === null) throw new ApiError(404, `Bet specified in ${name} parameter not found`);
    return time;
  };
  const beforeTime = Math.min(params.beforeTime ?? at + 1, betTimeOf(params.before, "before") ?? at + 1, at + 1);
  const afterTime = Math.max(params.afterTime ?? 0, betTimeOf(params.after, "after") ?? 0);
  return listBets(world, linkedMarketsFor(contracts, params), {
    afterTime,
    beforeTime,
    limit,
    selection: { answerId: params.answerId ?? null, withMoves: areMovesIncluded(params) },
    accepts: (bet) =>
      !(params.filterRedemptions === true && bet.isRedemption) &&
      (params.id === undefined || bet.id === params.id) &&
      (params.userId === undefined || bet.userId === params.userId) &&
      (params.minAmount === undefined || Math.abs(bet.amount) >= params.minAmount),
  });
}

/** Whether redemptions with zero shares are included. Both parameters restrict the rows. */
function areMovesIncluded({ filterRedemptions, includeZeroShareRedemptions }: BetsParams): boolean {
  return includeZeroShareRedemptions === true && filterRedemptions !== true;
}

/** Returns the markets whose bets are requested, or all markets if the request includes no contract. */
function linkedMarketsFor(contracts: Contracts, params: BetsParams): readonly LinkedMarkets[] {
  const { contractId, contractSlug, answerId } = params;
  let selectedContracts: readonly (Contract | null)[];
  if (contractSlug !== undefined) selectedContracts = [requireContract(contracts.findBySlug(contractSlug))];
  else if (contractId !== undefined) selectedContracts = contractId.map((id) => contracts.findById(id));
  else selectedContracts = contracts.list();
  return selectedContracts.flatMap((contract) => {
    if (contract === null) return [];
    const markets = contract.event.markets.filter(
      (market) => answerId === undefined || (contract.isMultiple && contract.answerIds.get(market) === answerId),
    );
    // One group has all mutually exclusive answers, because a bet on any of them may move the requested one.
    return (contract.sumsToOne ? markets.slice(0, 1) : markets).map((market) => linkedMarketsOf(contract, market));
  });
}

/** The venue limits requests per IP address. The User-Agent distinguishes clients with the same address. */
function clientKeyOf(request: FastifyRequest): string {
  return `${request.headers["user-agent"] ?? ""} ${request.ip}`;
}
