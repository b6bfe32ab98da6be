import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { type Bet, findBetTime, lastBetTimeOf, listBets } from "./bets.ts";
import { type Contract, type Contracts, creatorOf } from "./contracts.ts";
import { userIdOf } from "./ids.ts";
import { MinuteLimit } from "./limits.ts";
import { ApiError, flag, numeric, oneOf, type Params, readParams, text, texts } from "./params.ts";
import { installPeople, userOfName } from "./people.ts";
import { presentAnswer, presentFull, presentLite, presentProb } from "./present.ts";
import type { Get } from "./rest-types.ts";
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
  username: text,
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

/** The interface had its place on the site itself before it got a host of its own; old programs still ask there. */
const BASES = ["/v0", "/api/v0"];

/** Manifold's public REST interface under /v0. */
export function installRest(app: FastifyInstance, context: ExchangeContext, contracts: Contracts): void {
  const { world, now } = context;
  const limit = new MinuteLimit(now);

  const contractOf = (id: string): Contract => {
    const contract = contracts.findById(id);
    if (contract === null) throw new ApiError(404, "Contract not found");
    return contract;
  };

  const get: Get = (path, answer) => {
    const handler = (request: FastifyRequest, reply: FastifyReply) => {
      if (context.enforceLimits && !limit.allows(clientOf(request))) {
        return reply.code(429).send({ message: "Too many requests, please try again later." });
      }
      try {
        return reply.send(answer(request.query, request.params as Record<string, string>));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const { status, message, details } = error;
        return reply.code(status).send({ message, ...(details === undefined ? {} : { details }) });
      }
    };
    for (const base of BASES) app.get(`${base}/${path}`, handler);
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
  get("market/:id", (query, { id }) => {
    const { lite } = readParams(query, { lite: flag });
    const contract = contractOf(id ?? "");
    return lite === true ? presentLite(world, contract, now()) : presentFull(world, contract, now());
  });
  get("slug/:slug", (query, { slug }) => {
    const { lite } = readParams(query, { lite: flag });
    const contract = contracts.findBySlug(slug ?? "");
    if (contract === null) throw new ApiError(404, "Contract not found");
    return lite === true ? presentLite(world, contract, now()) : presentFull(world, contract, now());
  });
  get("market/:id/answers", (query, { id }) => {
    readParams(query, {});
    const contract = contractOf(id ?? "");
    if (!contract.isMultiple) return [];
    return contract.event.markets.map((market) => presentAnswer(world, contract, market, now()));
  });
  get("market/:id/lite", (query, { id }) => {
    readParams(query, {});
    return presentLite(world, contractOf(id ?? ""), now());
  });
  get("market/:id/groups", (query, { id }) => {
    readParams(query, {});
    const { groupSlugs } = contractOf(id ?? "");
    return groupSlugs.map((slug) => findTopic(contracts, (topic) => topic.slug === slug));
  });
  get("answer/:answerId", (query, { answerId }) => {
    readParams(query, {});
    for (const contract of contracts.list()) {
      const market = contract.isMultiple
        ? contract.event.markets.find((candidate) => contract.answerIds.get(candidate) === answerId)
        : undefined;
      if (market !== undefined) return presentAnswer(world, contract, market, now());
    }
    throw new ApiError(404, "Answer not found");
  });
  get("market/:id/prob", (query, { id }) => {
    readParams(query, {});
    return presentProb(world, contractOf(id ?? ""), now());
  });
  get("market-probs", (query) => {
    const { ids } = readParams(query, { ids: texts });
    if (ids === undefined || ids.length > PROBS_IDS_MAX) {
      throw new ApiError(400, "Error validating request.", [{ field: "ids", error: "expected 1 to 100 ids" }]);
    }
    const known = ids.map((id) => contracts.findById(id)).filter((contract) => contract !== null);
    return Object.fromEntries(known.map((contract) => [contract.id, presentProb(world, contract, now())]));
  });
  get("bets", (query) => {
    const params = readParams(query, BETS_PARAMS);
    // The simulated market makers rest no limit orders: the pool takes every bet.
    if (params.kinds === "open-limit") return [];
    const bets = findBets(context, contracts, params, params.limit ?? BETS_MAX);
    return params.order === "asc" ? bets.reverse() : bets;
  });
  get("user/:username/bets", (query, { username }) => {
    const params = readParams(query, { limit: numeric(0, BETS_MAX) });
    return findBets(context, contracts, { username: username ?? "" }, params.limit ?? BETS_MAX);
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
    return bets.map(({ id, contractId, answerId, createdTime, probBefore, probAfter, isRedemption }) => ({
      id,
      contractId,
      ...(answerId === undefined ? {} : { answerId }),
      createdTime,
      probBefore,
      probAfter,
      isRedemption,
    }));
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
  get("group/by-id/:id", (query, { id }) => {
    readParams(query, {});
    const topic = findTopic(contracts, (candidate) => candidate.id === id);
    if (topic === null) throw new ApiError(404, "Group not found");
    return topic;
  });
  get("group/by-id/:id/markets", (query, { id }) => {
    const params = readParams(query, { limit: numeric(0, 1_000) });
    const found = listMarkets(context, contracts, { ...params, groupId: id ?? "" });
    return found.map((contract) => presentLite(world, contract, now()));
  });
  installPeople(get, context, contracts);
}

function listMarkets(
  context: ExchangeContext,
  contracts: Contracts,
  params: Params<typeof MARKETS_PARAMS>,
): Contract[] {
  const { world, now } = context;
  const topic = params.groupId === undefined ? null : findTopic(contracts, ({ id }) => id === params.groupId);
  if (params.groupId !== undefined && topic === null) return [];
  const key = (contract: Contract): number =>
    params.sort === "last-bet-time" || params.sort === "updated-time"
      ? (lastBetTimeOf(world, contract.event.markets, now()) ?? 0)
      : contract.event.openAt;
  const all = contracts
    .list()
    .filter((contract) => topic === null || contract.groupSlugs.includes(topic.slug))
    .filter(({ event }) => params.userId === undefined || userIdOf(creatorOf(event)) === params.userId);
  const sign = params.order === "asc" ? 1 : -1;
  const sorted = all
    .map((contract) => ({ contract, key: key(contract) }))
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
  const userId = params.username === undefined ? params.userId : userIdOf(userOfName(params.username));
  return listBets(world, contracts, marketsOf(contracts, params), {
    after,
    before,
    limit,
    accepts: (bet) =>
      !(params.filterRedemptions === true && bet.isRedemption) &&
      (params.id === undefined || bet.id === params.id) &&
      (userId === undefined || bet.userId === userId) &&
      (params.minAmount === undefined || Math.abs(Number(bet.amount)) >= params.minAmount),
  });
}

function marketsOf(contracts: Contracts, params: BetsParams): readonly ListedMarket[] {
  const { contractId, contractSlug, answerId } = params;
  let chosen: readonly (Contract | null)[];
  if (contractSlug !== undefined) {
    chosen = [contracts.findBySlug(contractSlug)];
    if (chosen[0] === null) throw new ApiError(404, "Contract not found");
  } else if (contractId !== undefined) chosen = contractId.map((id) => contracts.findById(id));
  else chosen = contracts.list();
  return chosen
    .filter((contract) => contract !== null)
    .flatMap((contract) =>
      contract.event.markets.filter(
        (market) => answerId === undefined || (contract.isMultiple && contract.answerIds.get(market) === answerId),
      ),
    );
}

/** The venue counts by address; on loopback the program's name tells clients apart. */
function clientOf(request: FastifyRequest): string {
  return `${request.headers["user-agent"] ?? ""} ${request.ip}`;
}
