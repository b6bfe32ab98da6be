import { hash, timingSafeEqual } from "node:crypto";
import { AppError } from "../../domain/errors.ts";
import { type Allowance, PLAN_ALLOWANCES, type Plan } from "../../domain/plan.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import { findOwnAllowance } from "./queries.ts";

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
};
const CUSTOM = "CUSTOM";
/** For how long numbers that an operator set are remembered. */
const CUSTOM_MS = 1_000;
const CUSTOM_ENTRIES_MAX = 10_000;
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
   * @throws AppError `unauthorized` without the right secret or without a user; rejects with `store_unavailable`
   */
  identify(headers: MarketplaceHeaders): Promise<MarketplaceCaller> | MarketplaceCaller | null;
}

/** @param options.secrets  any of them is right: two while one replaces the other; none means no marketplace */
export function createMarketplace(options: {
  readonly secrets: readonly string[];
  readonly database: Database;
  readonly clock: Clock;
}): Marketplace {
  const { database, clock } = options;
  const expected = options.secrets.map(digest);
  const customs = new Map<string, { readonly asOf: number; readonly caller: Promise<MarketplaceCaller> }>();

  const isRight = (secret: string): boolean => {
    const sent = digest(secret);
    // Every secret is compared whole, so that the time says nothing.
    return expected.reduce((isOne, each) => timingSafeEqual(sent, each) || isOne, false);
  };

  /** Enterprise where an operator gave this user numbers of its own, pro until then. */
  const findCustom = (customerId: string): Promise<MarketplaceCaller> => {
    const now = clock.monotonic();
    const known = customs.get(customerId);
    if (known !== undefined && now - known.asOf < CUSTOM_MS) return known.caller;
    const caller = findOwnAllowance(database, customerId).then((own) =>
      own === null ? callerOf(customerId, "pro") : { customerId, plan: "enterprise" as const, allowance: own },
    );
    customs.delete(customerId);
    customs.set(customerId, { asOf: now, caller });
    if (customs.size > CUSTOM_ENTRIES_MAX) customs.delete(customs.keys().next().value ?? "");
    // An answer that did not come is none to remember.
    caller.catch(() => customs.delete(customerId));
    return caller;
  };

  return {
    identify({ secret, user, subscription }) {
      if (secret === undefined && user === undefined && subscription === undefined) return null;
      if (secret === undefined || !isRight(secret) || user === undefined || user === "")
        throw new AppError("unauthorized", "Invalid or expired API key");
      const customerId = marketplaceCustomerId(user);
      const booked = subscription ?? "";
      if (booked === CUSTOM) return findCustom(customerId);
      return callerOf(customerId, Object.hasOwn(PLANS, booked) ? (PLANS[booked] ?? "free") : "free");
    },
  };
}

const callerOf = (customerId: string, plan: Plan): MarketplaceCaller => ({
  ...{ customerId, plan },
  allowance: PLAN_ALLOWANCES[plan],
});

const digest = (text: string): Uint8Array => hash("sha256", text, "buffer");
