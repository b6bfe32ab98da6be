import { hash, timingSafeEqual } from "node:crypto";
import { AppError } from "../../../domain/errors.ts";
import { type Allowance, PLAN_ALLOWANCES, type Plan } from "../../../domain/plan.ts";
import type { AreaPorts } from "../../area-ports.ts";
import { createLookUpQueue } from "../keys/index.ts";
import { findMarketplaceUserSettings, type MarketplaceUserSettings } from "./queries.ts";

/** The plan of each marketplace subscription; unknown subscriptions get the free plan. */
const PLANS_BY_SUBSCRIPTION: ReadonlyMap<string, Plan> = new Map([
  ["BASIC", "free"],
  ["PRO", "pro"],
  ["ULTRA", "pro"],
  ["MEGA", "pro"],
  /** Enterprise if an operator has set custom limits. */
  ["CUSTOM", "pro"],
]);
const CUSTOM_SUBSCRIPTION = "CUSTOM";
/** How long a user's account settings are cached. */
const CACHED_ACCOUNT_MS_MAX = 1_000;
const CACHED_ACCOUNTS_MAX = 10_000;
/** Number of hex characters in an id: 160 bits, enough to rule out collisions. */
const ID_LENGTH = 40;

export interface MarketplaceCaller {
  /**
   * `mkt-` and a hash of the user name, so that a user-chosen name cannot collide with another id or contain invalid
   * characters.
   */
  readonly customerId: string;
  readonly plan: Plan;
  readonly allowance: Allowance;
}

/** @param user  the exact user name at the marketplace; case-sensitive */
export const marketplaceCustomerId = (user: string): string => `mkt-${hash("sha256", user, "hex").slice(0, ID_LENGTH)}`;

/** Headers that the marketplace adds to forwarded requests. `user` and `subscription` are used only with a valid secret. */
export interface MarketplaceHeaders {
  readonly secret: string | undefined;
  readonly user: string | undefined;
  readonly subscription: string | undefined;
}

interface Entry {
  readonly asOf: number;
  account: Promise<MarketplaceUserSettings> | MarketplaceUserSettings;
}

/** @param ports.secrets  accepted secrets: two during a rotation; none disables the marketplace */
export function createMarketplace({
  database,
  clock,
  secrets,
}: Pick<AreaPorts, "database" | "clock"> & { readonly secrets: readonly string[] }) {
  const secretDigests = secrets.map(hashText);
  const accounts = new Map<string, Entry>();
  const lookUps = createLookUpQueue(clock, (ids: readonly string[]) => findMarketplaceUserSettings(database, ids));

  const isValidSecret = (secret: string): boolean => {
    const secretDigest = hashText(secret);
    // Compares with every secret in constant time.
    return secretDigests.reduce((isValid, each) => timingSafeEqual(secretDigest, each) || isValid, false);
  };

  /** Returns cached settings synchronously. */
  const findAccount = (customerId: string): Promise<MarketplaceUserSettings> | MarketplaceUserSettings => {
    const now = clock.monotonic();
    const cachedEntry = accounts.get(customerId);
    if (cachedEntry !== undefined && now - cachedEntry.asOf < CACHED_ACCOUNT_MS_MAX) return cachedEntry.account;
    // The marketplace's secret has authenticated the caller.
    const pendingAccount = lookUps.find(customerId, null);
    const entry: Entry = { asOf: now, account: pendingAccount };
    accounts.delete(customerId);
    accounts.set(customerId, entry);
    if (accounts.size > CACHED_ACCOUNTS_MAX) accounts.delete(accounts.keys().next().value ?? "");
    pendingAccount.then(
      (account) => {
        entry.account = account;
      },
      // Failures are not cached.
      () => accounts.delete(customerId),
    );
    return pendingAccount;
  };

  return {
    /**
     * Returns the caller, or null if the request has no marketplace headers. Returns cached results synchronously.
     *
     * @throws AppError `unauthorized` for a wrong secret, a missing user, or a user an operator has disabled; rejects with
     *   `store_unavailable`
     */
    identify({
      secret,
      user,
      subscription,
    }: MarketplaceHeaders): Promise<MarketplaceCaller> | MarketplaceCaller | null {
      if (secret === undefined && user === undefined && subscription === undefined) return null;
      if (secret === undefined || !isValidSecret(secret) || user === undefined || user === "")
        throw createUnauthorizedError();
      const customerId = marketplaceCustomerId(user);
      const account = findAccount(customerId);
      const toCaller = (loaded: MarketplaceUserSettings) => createCaller(customerId, subscription ?? "", loaded);
      return account instanceof Promise ? account.then(toCaller) : toCaller(account);
    },
  };
}

/** The operator's settings take precedence: canceled users are rejected, and CUSTOM subscriptions use custom limits. */
function createCaller(
  customerId: string,
  subscription: string,
  { isCanceled, customAllowance }: MarketplaceUserSettings,
): MarketplaceCaller {
  if (isCanceled) throw createUnauthorizedError();
  if (subscription === CUSTOM_SUBSCRIPTION && customAllowance !== null)
    return { customerId, plan: "enterprise", allowance: customAllowance };
  const plan = PLANS_BY_SUBSCRIPTION.get(subscription) ?? "free";
  return { customerId, plan, allowance: PLAN_ALLOWANCES[plan] };
}

const createUnauthorizedError = () => new AppError("unauthorized", "Invalid or expired API key");

const hashText = (text: string): Uint8Array => hash("sha256", text, "buffer");
