import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { type Bet, findBetTime, lastBetTimeOf, listBets } from "./bets.ts";
import { type Contract, type Contracts, creatorOf } from "./contracts.ts";
import { userIdOf } from "./ids.ts";
import { createRateLimit } from "./limits.ts";
import { ApiError, flag, numeric, oneOf, type Params, readParams, text, texts } from "./params.ts";
import { presentAnswer, presentFull, presentLite, presentProb } from "./present.ts";
import { SEARCH_PARAMS, search } from "./search.ts";
import { findTopic, listTopics } from "./topics.ts";

const TIME = numeric(0, Number.MAX_SAFE_INTEGER);
const BETS_MAX = 1_000;
const BET_POINTS_MAX = 50_000;
const PROBS_IDS_MAX = 100;

const MARKETS_PARAMS = {
  limit: numeric(0, 1_000),
  sort: oneOf("created-time", "updated-time", "last-bet-time", "last-comment-time"),
  order: oneOf("asc", "desc"),
  before: text,
  userId: text,
  groupId: text,
} as const;

const BETS_PARAMS = {
  id: text,
  userId: text,
  contractId: texts,
  contractSlug: text,
  answerId: text,
  limit: numeric(0, BETS_MAX),
  before: text,
  after: text,
  beforeTime: TIME,
  afterTime: TIME,
  order: oneOf("asc", "desc"),
  kinds: oneOf("open-limit"),
  minAmount: numeric(Number.MIN_VALUE, Number.MAX_SAFE_INTEGER),
  filterRedemptions: flag,
  includeZeroShareRedemptions: flag,
} as const;

const BET_POINTS_PARAMS = {
  contractId: text,
  answerId: text,
  limit: numeric(0, BET_POINTS_MAX),
  beforeTime: TIME,
  afterTime: TIME,
  filterRedemptions: flag,
  includeZeroShareRedemptions: flag,
} as const;

export function installRest(app: FastifyInstance, context: ExchangeContext, contracts: Contracts): void {
  const { world, now } = context;
  const isWithinLimit = createRateLimit(now);

  const contractOf = (id: string | undefined): Contract => requireContract(contracts.findById(id ?? ""));
  const presentMarket = (query: unknown, find: () => Contract) => {
    const { lite } = readParams(query, { lite: flag });
    const contract = find();
    return lite === true ? presentLite(world, contract, now()) : presentFull(world, contract, now());
  };

  /** Registers a GET route. An `ApiError` thrown by the handler becomes the response. */
  const get = (path: string, handle: (query: unknown, params: Readonly<Record<string, string>>) => unknown) => {
    app.get(`/v0/${path}`, (request: FastifyRequest, reply: FastifyReply) => {
      if (context.enforceLimits && !isWithinLimit(clientKey(request))) {
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

  get("search-markets", (query) => {
    const params = readParams(query, SEARCH_PARAMS);
    const page = search(world, contracts.list(), params, now());
    return page.map((contract) => presentLite(world, contract, now(), params.includeLiteAnswers === true));
  });
  get("markets", (query) => {
    const params = readParams(query, MARKETS_PARAMS);
    return listMarkets(context, contracts, params).map((contract) => presentLite(world, contract, now()));
  });
  get("market/:id", (query, { id }) => presentMarket(query, () => contractOf(id)));
  get("slug/:slug", (query, { slug }) => presentMarket(query, () => requireContract(contracts.findBySlug(slug ?? ""))));
  get("market/:id/answers", (query, { id }) => {
    readParams(query, {});
    const contract = contractOf(id);
    if (!contract.isMultiple) return [];
    return contract.event.markets.map((market) => presentAnswer(world, contract, market, now()));
  });
  get("market/:id/prob", (query, { id }) => {
    readParams(query, {});
    return presentProb(world, contractOf(id), now());
  });
  get("market-probs", (query) => {
    const { ids } = readParams(query, { ids: texts });
    if (ids === undefined || ids.length > PROBS_IDS_MAX) {
      throw new ApiError(400, "Error validating request.", [{ field: "ids", error: "expected 1 to 100 ids" }]);
    }
    const selected = ids.map((id) => contracts.findById(id)).filter((contract) => contract !== null);
    return Object.fromEntries(selected.map((contract) => [contract.id, presentProb(world, contract, now())]));
  });
  get("bets", (query) => {
    const params = readParams(query, BETS_PARAMS);
    // There are no resting limit orders: every simulated bet is filled by the pool.
    if (params.kinds === "open-limit") return [];
    const bets = findBets(context, contracts, params, params.limit ?? BETS_MAX);
    return params.order === "asc" ? bets.reverse() : bets;
  });
  get("bet-points", (query) => {
    const params = readParams(query, BET_POINTS_PARAMS);
    const missing = (["contractId", "beforeTime", "afterTime"] as const).filter((name) => params[name] === undefined);
    if (missing.length > 0) {
      const details = missing.map((field) => ({ field, error: "Required" }));
      throw new ApiError(400, "Error validating request.", details);
    }
    const { contractId, ...rest } = params;
    const bets = findBets(context, contracts, { ...rest, contractId: [contractId ?? ""] }, params.limit ?? 5_000);
    return bets.map(({ id, contractId, answerId, createdTime, probBefore, probAfter, isRedemption }) => {
      return { id, contractId, answerId, createdTime, probBefore, probAfter, isRedemption };
    });
  });
  get("groups", (query) => {
    const params = readParams(query, { beforeTime: TIME, availableToUserId: text, limit: numeric(0, 1_000) });
    return listTopics(contracts, params.beforeTime ?? Number.POSITIVE_INFINITY).slice(0, params.limit);
  });
  get("group/:slug", (query, { slug }) => {
    readParams(query, {});
    const topic = findTopic(contracts, (candidate) => candidate.slug === slug);
    if (topic === null) throw new ApiError(404, "Group not found");
    return topic;
  });
}

/** @throws ApiError 404 when the contract is null */
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
  const sortKey = (contract: Contract): number =>
    params.sort === "last-bet-time" || params.sort === "updated-time"
      ? (lastBetTimeOf(world, contract.event.markets, now()) ?? 0)
      : contract.event.openAt;
  const sign = params.order === "asc" ? 1 : -1;
  const sorted = contracts
    .list()
    .filter((contract) => topic === null || contract.groupSlugs.includes(topic.slug))
    .filter(({ event }) => params.userId === undefined || userIdOf(creatorOf(event)) === params.userId)
    .map((contract) => ({ contract, key: sortKey(contract) }))
    .sort((a, b) => sign * (a.key - b.key || a.contract.event.index - b.contract.event.index))
    .map(({ contract }) => contract);
  let start = 0;
  if (params.before !== undefined) {
    start = sorted.findIndex((contract) => contract.id === params.before) + 1;
    if (start === 0) throw new ApiError(404, "Contract specified in before parameter not found");
  }
  return sorted.slice(start, start + (params.limit ?? 500));
}

type BetsParams = Omit<Params<typeof BETS_PARAMS>, "limit" | "order" | "kinds">;

function findBets(context: ExchangeContext, contracts: Contracts, params: BetsParams, limit: number): Bet[] {
  const { world, now } = context;
  const at = now();
  const timeOf = (id: string | undefined, name: string): number | null => {
    if (id === undefined) return null;
    const time = findBetTime(world, contracts, id, at);
    if (time === null) throw new ApiError(404, `Bet specified in ${name} parameter not found`);
    return time;
  };
  const before = Math.min(params.beforeTime ?? at + 1, timeOf(params.before, "before") ?? at + 1, at + 1);
  const after = Math.max(params.afterTime ?? 0, timeOf(params.after, "after") ?? 0);
  return listBets(world, contracts, marketsOf(contracts, params), {
    after,
    before,
    limit,
    accepts: (bet) =>
      !(params.filterRedemptions === true && bet.isRedemption) &&
      (params.id === undefined || bet.id === params.id) &&
      (params.userId === undefined || bet.userId === params.userId) &&
      (params.minAmount === undefined || Math.abs(Number(bet.amount)) >= params.minAmount),
  });
}

/** The markets whose bets a request selects; all markets when it names no contract. */
function marketsOf(contracts: Contracts, params: BetsParams): readonly ListedMarket[] {
  const { contractId, contractSlug, answerId } = params;
  let selected: readonly (Contract | null)[];
  if (contractSlug !== undefined) selected = [requireContract(contracts.findBySlug(contractSlug))];
  else if (contractId !== undefined) selected = contractId.map((id) => contracts.findById(id));
  else selected = contracts.list();
  return selected
    .filter((contract) => contract !== null)
    .flatMap((contract) =>
      contract.event.markets.filter(
        (market) => answerId === undefined || (contract.isMultiple && contract.answerIds.get(market) === answerId),
      ),
    );
}

/** The venue limits by address; on loopback the user agent distinguishes clients. */
function clientKey(request: FastifyRequest): string {
  return `${request.headers["user-agent"] ?? ""} ${request.ip}`;
}
