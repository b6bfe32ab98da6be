import {
  type Account,
  type Accounts,
  type Actor,
  CUSTOMER_NAME_LENGTH_MAX,
  CUSTOMER_STATUSES,
  isPlainName,
  LIST_LIMIT_MAX,
  parseEmail,
  presentAccount,
  presentAudit,
  presentIssuedKey,
  presentSummary,
  type ReadUsage,
  toTierCounts,
} from "../../capabilities/accounts/customers/index.ts";
import { marketplaceCustomerId } from "../../capabilities/accounts/marketplace/index.ts";
import { AppError } from "../../domain/errors.ts";
import { PLANS, type Plan, type RateClass, TIERS } from "../../domain/plan.ts";
import {
  type Arguments,
  type CommandOutput,
  type CommandResult,
  type OperatorCommand,
  type OptionValues,
  parseCommand,
  parseInteger,
  type Subcommand,
  UsageError,
} from "../operator/command.ts";
import {
  formatAccount,
  formatAccountWithUsage,
  formatAudit,
  formatCustomerTable,
  formatDeletion,
  formatIssuedKey,
} from "./format.ts";
import { CUSTOMERS_USAGE } from "./usage.ts";

const RATE_CLASSES: readonly RateClass[] = ["general", "strategy"];
const LIST_LIMIT_DEFAULT = 50;
/** Prefix of a WHO argument that is the name of a marketplace user. */
const MARKETPLACE_PREFIX = "marketplace:";

export interface CustomersContext extends Accounts {
  /** Returns the calls counted this month. */
  readonly usage: ReadUsage;
}

const OPTIONS = {
  plan: { type: "string" },
  status: { type: "string" },
  limit: { type: "string" },
  after: { type: "string" },
  before: { type: "string" },
  name: { type: "string" },
  yes: { type: "boolean", short: "y" },
} as const;

type Options = OptionValues<typeof OPTIONS>;

/** Parses the arguments after `customers`. Returns a result for `--help` and for invalid usage (exit code 2). */
export function parseCustomersCommand(argv: readonly string[]): CommandResult | OperatorCommand<CustomersContext> {
  return parseCommand({ name: "customers", usage: CUSTOMERS_USAGE, options: OPTIONS, subcommands: SUBCOMMANDS }, argv);
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand<CustomersContext, Options>>> = {
  list: {
    argumentCount: [0, 0],
    options: ["plan", "status", "limit", "after"],
    parse({ options }) {
      const limit = parsePageLimit(options);
      const filter = {
        limit: limit + 1,
        after: options.after,
        plan: options.plan === undefined ? undefined : parseOneOf("--plan", options.plan, PLANS),
        status: options.status === undefined ? undefined : parseOneOf("--status", options.status, CUSTOMER_STATUSES),
      };
      return async (accounts) => {
        const rows = (await accounts.list(filter)).map(presentSummary);
        const customers = rows.slice(0, limit);
        return {
          json: customers,
          text: formatCustomerTable(customers),
          note: formatNextPageHint(rows, limit, "after", "customer_id"),
        };
      };
    },
  },
  show: {
    argumentCount: [1, 1],
    options: [],
    parse(args) {
      const who = args.at(0, "a customer");
      return async (context) => {
        const account = await findAccount(context, who);
        const { usage, resetsOn } = await context.usage(account);
        const json = { ...presentAccount(account), usage: toTierCounts(usage), resets_on: resetsOn };
        return { json, text: formatAccountWithUsage(json) };
      };
    },
  },
  create: {
    argumentCount: [1, 1],
    options: ["name", "plan"],
    parse({ at, options }) {
      const email = parseEmail(at(0, "an e-mail address"));
      if (email === null) throw new UsageError("The e-mail address is not valid.");
      const plan = parseOneOf("--plan", options.plan ?? "free", PLANS);
      const { name = null } = options;
      if (name !== null && !isPlainName(name, CUSTOMER_NAME_LENGTH_MAX))
        throw new UsageError(`--name: must have 1 to ${CUSTOMER_NAME_LENGTH_MAX} plain characters.`);
      return async (accounts, actor) => {
        const { customerId, key } = await accounts.create({ email: email.address, name, plan }, actor);
        return createKeyOutput(customerId, key);
      };
    },
  },
  "set-plan": createChangeCommand(2, findOrCreateMarketplaceUser, (args) => {
    const plan = parseOneOf<Plan>("PLAN", args.at(1, "a plan"), PLANS);
    return (accounts, customerId, actor) => accounts.setPlan(customerId, plan, actor);
  }),
  "set-quota": createChangeCommand(3, findOrCreateMarketplaceUser, (args) => {
    const tier = parseOneOf("TIER", args.at(1, "a tier").toUpperCase(), TIERS);
    const limit = parseLimit(args.at(2, 'a number or "plan"'));
    return (accounts, customerId, actor) => accounts.setQuota(customerId, tier, limit, actor);
  }),
  "set-rate-limit": createChangeCommand(3, findOrCreateMarketplaceUser, (args) => {
    const rateClass = parseOneOf("CLASS", args.at(1, "a class"), RATE_CLASSES);
    const limit = parseLimit(args.at(2, 'a number or "plan"'));
    return (accounts, customerId, actor) => accounts.setRateLimits(customerId, { [rateClass]: limit }, actor);
  }),
  disable: createChangeCommand(
    1,
    findOrCreateMarketplaceUser,
    () => (accounts, customerId, actor) => accounts.disable(customerId, actor),
  ),
  enable: createChangeCommand(
    1,
    findAccount,
    () => (accounts, customerId, actor) => accounts.enable(customerId, actor),
  ),
  delete: {
    argumentCount: [1, 1],
    options: ["yes"],
    confirmation: (args) =>
      `Delete the account ${args.at(0, "a customer")}? Its API keys stop working and its data is erased. This cannot be undone.`,
    parse(args) {
      const who = args.at(0, "a customer");
      if (parseMarketplaceUser(who) !== null)
        throw new UsageError('The account of a marketplace user cannot be deleted; use "customers disable".');
      return async (accounts, actor) => {
        // An id also identifies an account that was already deleted.
        const customerId = who.includes("@") ? (await findAccount(accounts, who)).customerId : who;
        await accounts.delete(customerId, actor);
        return { json: { customer_id: customerId, deleted: true }, text: formatDeletion(customerId) };
      };
    },
  },
  "create-key": {
    argumentCount: [2, 2],
    options: [],
    parse(args) {
      const who = args.at(0, "a customer");
      const name = args.at(1, "a name for the key");
      return async (accounts, actor) => {
        const { customerId } = await findAccount(accounts, who);
        return createKeyOutput(customerId, await accounts.createKey(customerId, name, actor));
      };
    },
  },
  rotate: {
    argumentCount: [1, 2],
    options: [],
    parse(args) {
      const who = args.at(0, "a customer");
      const idOrName = args.at(1, "");
      return async (accounts, actor) => {
        const account = await findAccount(accounts, who);
        const { keyId } = findActiveKey(account, idOrName);
        return createKeyOutput(account.customerId, await accounts.rotateKey(account.customerId, keyId, actor));
      };
    },
  },
  revoke: createChangeCommand(2, findAccount, (args) => {
    const idOrName = args.at(1, "a key");
    return (accounts, customerId, actor, account) =>
      accounts.revokeKey(customerId, findActiveKey(account, idOrName).keyId, actor);
  }),
  audit: {
    argumentCount: [0, 1],
    options: ["limit", "before"],
    parse({ at, options }) {
      const who = at(0, "");
      const limit = parsePageLimit(options);
      const before =
        options.before === undefined ? undefined : parseInteger("--before", options.before, Number.MAX_SAFE_INTEGER);
      return async (accounts) => {
        const customerId = who === "" ? undefined : (await findAccount(accounts, who)).customerId;
        const rows = (await accounts.auditLog({ customerId, before, limit: limit + 1 })).map(presentAudit);
        const entries = rows.slice(0, limit);
        return {
          json: entries,
          text: formatAudit(entries),
          note: formatNextPageHint(rows, limit, "before", "audit_id"),
        };
      };
    },
  },
};

type Change = (accounts: Accounts, customerId: string, actor: Actor, account: Account) => Promise<void>;

/** Creates a subcommand that changes one customer and outputs the changed account. */
function createChangeCommand(
  argumentCount: number,
  findCustomer: typeof findOrCreateMarketplaceUser,
  parse: (args: Arguments<Options>) => Change,
): Subcommand<CustomersContext, Options> {
  return {
    argumentCount: [argumentCount, argumentCount],
    options: [],
    parse(args) {
      const who = args.at(0, "a customer");
      const apply = parse(args);
      return async (accounts, actor) => {
        const account = await findCustomer(accounts, who, actor);
        await apply(accounts, account.customerId, actor, account);
        return createAccountOutput(await accounts.account(account.customerId));
      };
    },
  };
}

/** Returns the user name if `who` is `marketplace:USER`, or null if it is an id or an e-mail address. */
const parseMarketplaceUser = (who: string): string | null =>
  who.startsWith(MARKETPLACE_PREFIX) ? who.slice(MARKETPLACE_PREFIX.length) : null;

async function findAccount(accounts: Accounts, who: string): Promise<Account> {
  const user = parseMarketplaceUser(who);
  const account = await accounts.find(user === null ? who : marketplaceCustomerId(user));
  if (account === null) throw new AppError("customer_not_found", `There is no customer "${who}"`);
  return account;
}

/** Creates the account of a marketplace user on first use, so that operators can set limits or disable the user. */
async function findOrCreateMarketplaceUser(accounts: Accounts, who: string, actor: Actor): Promise<Account> {
  const user = parseMarketplaceUser(who);
  if (user !== null && user !== "")
    await accounts.ensureMarketplaceAccount(
      marketplaceCustomerId(user),
      isPlainName(who, CUSTOMER_NAME_LENGTH_MAX) ? who : null,
      actor,
    );
  return findAccount(accounts, who);
}

/** Finds an active key by id or name. If `idOrName` is empty, returns the only active key. */
function findActiveKey({ keys }: Account, idOrName: string) {
  const activeKeys = keys.filter(({ revokedAt }) => revokedAt === null);
  const [first, second] = activeKeys.filter(({ keyId, name }) => ["", keyId, name].includes(idOrName));
  if (first === undefined) throw new AppError("key_not_found", "There is no such active key");
  if (second !== undefined) throw new UsageError(`Specify the key: ${activeKeys.map(({ name }) => name).join(", ")}.`);
  return first;
}

function createAccountOutput(account: Account): CommandOutput {
  const json = presentAccount(account);
  return { json, text: formatAccount(json) };
}

function createKeyOutput(customerId: string, key: Parameters<typeof presentIssuedKey>[0]): CommandOutput {
  const json = { customer_id: customerId, ...presentIssuedKey(key) };
  return { json, text: formatIssuedKey(json) };
}

function parseOneOf<Value extends string>(label: string, text: string, values: readonly Value[]): Value {
  const value = values.find((candidate) => candidate === text);
  if (value === undefined) throw new UsageError(`${label}: ${text} is not one of ${values.join(", ").toLowerCase()}.`);
  return value;
}

const parsePageLimit = ({ limit = String(LIST_LIMIT_DEFAULT) }: Options): number =>
  parseInteger("--limit", limit, LIST_LIMIT_MAX - 1);

/** Returns the hint with the option for the next page; empty if there are no more results. */
function formatNextPageHint<Row extends object>(
  rows: readonly Row[],
  limit: number,
  option: "after" | "before",
  id: keyof Row,
): string {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return last === undefined ? "" : `more: --${option} ${String(last[id])}\n`;
}

/** Checks only the format; `Accounts` checks the bounds. */
function parseLimit(text: string): number | null {
  if (text === "plan") return null;
  if (!/^\d{1,12}$/.test(text)) throw new UsageError(`${text}: must be an integer or "plan".`);
  return Number(text);
}
