import { hash, timingSafeEqual } from "node:crypto";
import { AppError } from "../../domain/errors.ts";
import { type Allowance, PLAN_ALLOWANCES, type Plan } from "../../domain/plan.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import { findUserAccount, type UserAccount } from "./queries.ts";

/** What the marketplace sends with each call it passes on. The two others mean something only beside the right secret. */
export const MARKETPLACE_HEADERS = {
  secret: "x-rapidapi-proxy-secret",
  user: "x-rapidapi-user",
  subscription: "x-rapidapi-subscription",
} as const;

/** What the marketplace's users have booked there (contract, section 5); any other word is the smallest plan. */
const PLANS: Readonly<Record<string, Plan>> = {
  BASIC: "free",
  PRO: "pro",
  ULTRA: "pro",
  MEGA: "pro",
  /** Enterprise only with numbers that an operator set. */
  CUSTOM: "pro",
};
const CUSTOM = "CUSTOM";
/** For how long an operator's word is remembered. */
const ACCOUNT_MS = 1_000;
const ACCOUNTS_MAX = 10_000;
/** 160 bits: two users never meet. */
const ID_LENGTH = 40;

export interface MarketplaceCaller {
  /** `mkt-` and a hash: no name that a user chose can be, or break, an id. */
  readonly customerId: string;
  readonly plan: Plan;
  readonly allowance: Allowance;
}

/** @param user  as the marketplace names it, letter by letter */
export const marketplaceCustomerId = (user: string): string => `mkt-${hash("sha256", user, "hex").slice(0, ID_LENGTH)}`;

export interface MarketplaceHeaders {
  readonly secret: string | undefined;
  readonly user: string | undefined;
  readonly subscription: string | undefined;
}

export interface Marketplace {
  /**
   * Who is calling; null where nothing says that a marketplace passed this call on.
   *
   * @throws AppError `unauthorized` without the right secret, without a user, or of one that an operator has ended; rejects
   *   with `store_unavailable`
   */
  identify(headers: MarketplaceHeaders): Promise<MarketplaceCaller> | MarketplaceCaller | null;
}

interface Entry {
  readonly asOf: number;
  account: Promise<UserAccount> | UserAccount;
}

/** @param options.secrets  any of them is right: two while one replaces the other; none means no marketplace */
export function createMarketplace(options: {
  readonly secrets: readonly string[];
  readonly database: Database;
  readonly clock: Clock;
}): Marketplace {
  const { database, clock } = options;
  const expected = options.secrets.map(digest);
  const accounts = new Map<string, Entry>();

  const isRight = (secret: string): boolean => {
    const sent = digest(secret);
    // Every secret is compared whole, so that the time says nothing.
    return expected.reduce((isOne, each) => timingSafeEqual(sent, each) || isOne, false);
  };

  /** Without a promise where it was read just now. */
  const findAccount = (customerId: string): Promise<UserAccount> | UserAccount => {
    const now = clock.monotonic();
    const known = accounts.get(customerId);
    if (known !== undefined && now - known.asOf < ACCOUNT_MS) return known.account;
    const reading = findUserAccount(database, customerId);
    const entry: Entry = { asOf: now, account: reading };
    accounts.delete(customerId);
    accounts.set(customerId, entry);
    if (accounts.size > ACCOUNTS_MAX) accounts.delete(accounts.keys().next().value ?? "");
    reading.then(
      (account) => {
        entry.account = account;
      },
      // An answer that did not come is none to remember.
      () => accounts.delete(customerId),
    );
    return reading;
  };

  return {
    identify({ secret, user, subscription }) {
      if (secret === undefined && user === undefined && subscription === undefined) return null;
      if (secret === undefined || !isRight(secret) || user === undefined || user === "") throw unauthorized();
      const customerId = marketplaceCustomerId(user);
      const account = findAccount(customerId);
      const asCaller = (known: UserAccount) => callerOf(customerId, subscription ?? "", known);
      return account instanceof Promise ? account.then(asCaller) : asCaller(account);
    },
  };
}

/** An operator's word counts before what is booked: numbers of its own for CUSTOM, and nothing at all for whoever is canceled. */
function callerOf(customerId: string, booked: string, { isCanceled, own }: UserAccount): MarketplaceCaller {
  if (isCanceled) throw unauthorized();
  if (booked === CUSTOM && own !== null) return { customerId, plan: "enterprise", allowance: own };
  const plan = Object.hasOwn(PLANS, booked) ? (PLANS[booked] ?? "free") : "free";
  return { customerId, plan, allowance: PLAN_ALLOWANCES[plan] };
}

const unauthorized = () => new AppError("unauthorized", "Invalid or expired API key");

const digest = (text: string): Uint8Array => hash("sha256", text, "buffer");
