import type { ExchangeContext } from "../exchange.ts";
import { type Contracts, creatorOf } from "./contracts.ts";
import { displayNameOf, userIdOf, userNameOf, userOfId } from "./ids.ts";
import { ApiError, flag, numeric, oneOf, readParams, text, texts } from "./params.ts";
import type { Get } from "./rest-types.ts";

const USERS_MAX = 1_000;
const TIME = numeric(0, Number.MAX_SAFE_INTEGER);
const NAME = /^Forecaster(\d{1,9})$/;

/** What asks for a signed-in user. */
const SIGNED_PATHS = ["me", "me/private", "get-notifications"];

/** The world's traders are numbered below this, and those who ask questions are among them. */
const USERS = 5_000;

/** Number of the user with this name; 404 when it is nobody's. */
export function userOfName(name: string): number {
  const user = Number(NAME.exec(name)?.[1] ?? USERS);
  if (user >= USERS || userNameOf(user) !== name) throw new ApiError(404, "User not found");
  return user;
}

function userOfKnownId(id: string): number | null {
  const user = userOfId(id);
  return user !== null && user < USERS ? user : null;
}

/**
 * Users, and what only they write: comments, payments, leagues. Questions and bets name users; no purse is kept for any
 * of them, so balances are zero and nobody has a portfolio, and nobody comments.
 */
export function installPeople(get: Get, { world, now }: ExchangeContext, contracts: Contracts): void {
  const lite = (user: number) => ({
    id: userIdOf(user),
    name: displayNameOf(user),
    username: userNameOf(user),
    avatarUrl: "",
  });
  const full = (user: number) => {
    const own = contracts.list().filter(({ event }) => creatorOf(event) === user);
    return {
      ...lite(user),
      createdTime: Math.min(world.genesis, ...own.map(({ event }) => event.openAt)),
      url: `https://manifold.markets/${userNameOf(user)}`,
      balance: 0,
      totalDeposits: 0,
    };
  };
  const byId = (id: string): number => {
    const user = userOfKnownId(id);
    if (user === null) throw new ApiError(404, "User not found");
    return user;
  };

  get("users", (query) => {
    const { limit, before } = readParams(query, { limit: numeric(0, USERS_MAX), before: text });
    const users = [...new Set(contracts.list().map(({ event }) => creatorOf(event)))].map(full);
    users.sort((a, b) => b.createdTime - a.createdTime || (a.id < b.id ? -1 : 1));
    const start = before === undefined ? 0 : users.findIndex(({ id }) => id === before) + 1;
    if (before !== undefined && start === 0) throw new ApiError(404, "User specified in before parameter not found");
    return users.slice(start, start + (limit ?? 500));
  });
  get("users/by-id", (query) => {
    const { ids = [] } = readParams(query, { ids: texts });
    return ids.flatMap((id) => userOfKnownId(id) ?? []).map(lite);
  });
  get("user/:username", (query, { username }) => {
    readParams(query, {});
    return full(userOfName(username ?? ""));
  });
  get("user/:username/lite", (query, { username }) => {
    readParams(query, {});
    return lite(userOfName(username ?? ""));
  });
  get("user/by-id/:id", (query, { id }) => {
    readParams(query, {});
    return full(byId(id ?? ""));
  });
  get("user/by-id/:id/lite", (query, { id }) => {
    readParams(query, {});
    return lite(byId(id ?? ""));
  });
  for (const path of SIGNED_PATHS) {
    get(path, () => {
      throw new ApiError(401, "Missing Authorization header.");
    });
  }

  for (const path of ["user-portfolio", "get-user-portfolio"]) {
    get(path, (query) => {
      const { userId = "" } = readParams(query, { userId: text });
      return { userId: userIdOf(byId(userId)), ...EMPTY_PURSE, timestamp: now() };
    });
  }
  for (const path of ["user-portfolio-history", "get-user-portfolio-history"]) {
    get(path, (query) => {
      const { userId = "" } = readParams(query, { userId: text, period: oneOf(...PERIODS) });
      byId(userId);
      return [];
    });
  }

  get("comments", (query) => {
    const params = readParams(query, COMMENTS_PARAMS);
    const { contractId, contractSlug } = params;
    const isUnknown =
      (contractId !== undefined && contracts.findById(contractId) === null) ||
      (contractSlug !== undefined && contracts.findBySlug(contractSlug) === null);
    if (isUnknown) throw new ApiError(404, "Contract not found");
    return [];
  });
  get("market/:id/positions", (query, { id }) => {
    readParams(query, POSITIONS_PARAMS);
    if (contracts.findById(id ?? "") === null) throw new ApiError(404, "Contract not found");
    return [];
  });
  get("managrams", (query) => {
    readParams(query, { toId: text, fromId: text, limit: numeric(0, 100), before: TIME, after: TIME });
    return [];
  });
  get("txns", (query) => {
    readParams(query, TXNS_PARAMS);
    return [];
  });
  get("leaderboard", (query) => {
    readParams(query, LEADERBOARD_PARAMS);
    return [];
  });
  get("leagues", (query) => {
    readParams(query, { userId: text, cohort: text, season: numeric(0, 10_000) });
    return [];
  });
}

const COMMENTS_PARAMS = {
  contractId: text,
  contractSlug: text,
  afterTime: TIME,
  limit: numeric(0, 1_000),
  page: numeric(0, Number.MAX_SAFE_INTEGER),
  userId: text,
  isPolitics: flag,
  order: oneOf("likes", "newest", "oldest"),
} as const;

const PERIODS = ["daily", "weekly", "monthly", "allTime"] as const;

const EMPTY_PURSE = {
  investmentValue: 0,
  cashInvestmentValue: 0,
  balance: 0,
  cashBalance: 0,
  spiceBalance: 0,
  totalDeposits: 0,
  totalCashDeposits: 0,
  loanTotal: 0,
  profit: 0,
  dailyProfit: 0,
} as const;

const LEADERBOARD_PARAMS = {
  groupId: text,
  limit: numeric(1, 100),
  token: oneOf("MANA", "CASH"),
  kind: oneOf("creator", "profit", "loss", "volume", "referral"),
} as const;

const POSITIONS_PARAMS = {
  userId: text,
  answerId: text,
  summaryOnly: flag,
  top: numeric(0, Number.MAX_SAFE_INTEGER),
  bottom: numeric(0, Number.MAX_SAFE_INTEGER),
  order: oneOf("shares", "profit"),
} as const;

const TXNS_PARAMS = {
  token: text,
  offset: numeric(0, Number.MAX_SAFE_INTEGER),
  limit: numeric(0, 100),
  before: TIME,
  after: TIME,
  toId: text,
  fromId: text,
  category: text,
  ignoreManaPool: flag,
} as const;
