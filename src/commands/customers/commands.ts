import { parseArgs } from "node:util";
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
} from "../../capabilities/customers/index.ts";
import { marketplaceCustomerId } from "../../capabilities/marketplace/index.ts";
import { AppError } from "../../domain/errors.ts";
import { PLANS, type Plan, type RateClass, TIERS } from "../../domain/plan.ts";
import { accountText, auditText, issuedKeyText, tableOf } from "./format.ts";
import { CUSTOMERS_USAGE } from "./usage.ts";

const RATE_CLASSES: readonly RateClass[] = ["general", "strategy"];
const LIST_LIMIT = 50;
/** Begins a WHO that is a marketplace's word for its user. */
const MARKETPLACE = "marketplace:";

/** How a command ended, for a terminal. */
export interface CommandResult {
  readonly code: 0 | 1 | 2;
  readonly out: string;
  readonly err: string;
}

/** A command that was understood and waits for a store. */
export type CustomersCommand = (accounts: Accounts, actor: Actor) => Promise<CommandResult>;

/** The command line is wrong; the message says how. */
class UsageError extends Error {}

interface Options {
  readonly json?: boolean;
  readonly plan?: string;
  readonly status?: string;
  readonly limit?: string;
  readonly after?: string;
  readonly before?: string;
  readonly name?: string;
}

interface Answer {
  readonly json: unknown;
  readonly text: string;
  /** Said beside the answer: that it is not all. */
  readonly note?: string;
}

interface Words {
  /** The word at this place. @throws UsageError when it is missing */
  at(place: number, what: string): string;
  readonly options: Options;
}

interface Verb {
  readonly words: readonly [number, number];
  readonly options: readonly (keyof Options)[];
  parse(words: Words): (accounts: Accounts, actor: Actor) => Promise<Answer>;
}

/**
 * Reads the words after `customers`. Gives a result at once where nothing is to be done: help, or a fault with code 2.
 */
export function parseCustomersCommand(argv: readonly string[]): CommandResult | CustomersCommand {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h" },
        json: { type: "boolean" },
        ...{ plan: { type: "string" }, status: { type: "string" }, limit: { type: "string" } },
        ...{ after: { type: "string" }, before: { type: "string" }, name: { type: "string" } },
      },
    });
    const { help, ...options } = values;
    if (help === true) return { code: 0, out: CUSTOMERS_USAGE, err: "" };
    const [name = "", ...words] = positionals;
    const run = readVerb(name, words, options);
    return (accounts, actor) => carryOut(() => run(accounts, actor), options.json === true);
  } catch (error) {
    if (error instanceof UsageError || isParseFault(error)) return misunderstood(error.message);
    throw error;
  }
}

function readVerb(name: string, words: readonly string[], options: Options) {
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (verb === undefined)
    throw new UsageError(name === "" ? "Say what to do." : `There is no command "customers ${name}".`);
  const [least, most] = verb.words;
  if (words.length > most) throw new UsageError(`Too many words for "customers ${name}".`);
  for (const option of Object.keys(options))
    if (option !== "json" && !verb.options.includes(option as keyof Options))
      throw new UsageError(`"customers ${name}" takes no --${option}.`);
  const at = (place: number, what: string) => {
    const word = words[place];
    if (word === undefined && place < least) throw new UsageError(`"customers ${name}" needs ${what}.`);
    return word ?? "";
  };
  return verb.parse({ at, options });
}

async function carryOut(run: () => Promise<Answer>, asJson: boolean): Promise<CommandResult> {
  try {
    const { json, text, note = "" } = await run();
    return { code: 0, out: asJson ? `${JSON.stringify(json, null, 2)}\n` : text, err: note };
  } catch (error) {
    if (error instanceof UsageError || error instanceof RangeError) return misunderstood(error.message);
    if (error instanceof AppError) return { code: 1, out: "", err: `${error.message}.\n` };
    throw error;
  }
}

const VERBS: Readonly<Record<string, Verb>> = {
  list: {
    words: [0, 0],
    options: ["plan", "status", "limit", "after"],
    parse({ options }) {
      const limit = pageLimit(options);
      const filter = {
        limit: limit + 1,
        ...(options.after === undefined ? {} : { after: options.after }),
        ...(options.plan === undefined ? {} : { plan: oneOf("--plan", options.plan, PLANS) }),
        ...(options.status === undefined ? {} : { status: oneOf("--status", options.status, CUSTOMER_STATUSES) }),
      };
      return async (accounts) => {
        const found = (await accounts.list(filter)).map(presentSummary);
        const customers = found.slice(0, limit);
        return { json: customers, text: tableOf(customers), note: more(found, limit, "after", "customer_id") };
      };
    },
  },
  show: {
    words: [1, 1],
    options: [],
    parse(words) {
      const who = words.at(0, "a customer");
      return async (accounts) => answerAccount(await find(accounts, who));
    },
  },
  create: {
    words: [1, 1],
    options: ["name", "plan"],
    parse({ at, options }) {
      const email = parseEmail(at(0, "an e-mail address"));
      if (email === null) throw new UsageError("That is not a valid e-mail address.");
      const plan = oneOf("--plan", options.plan ?? "free", PLANS);
      const { name = null } = options;
      if (name !== null && !isPlainName(name, CUSTOMER_NAME_LENGTH_MAX))
        throw new UsageError(`--name: 1 to ${CUSTOMER_NAME_LENGTH_MAX} plain characters.`);
      return async (accounts, actor) => {
        const { customerId, key } = await accounts.create({ email: email.address, name, plan }, actor);
        return answerKey(customerId, key);
      };
    },
  },
  "set-plan": change(
    (words) => {
      const plan = oneOf<Plan>("PLAN", words.at(1, "a plan"), PLANS);
      return (accounts, customerId, actor) => accounts.setPlan(customerId, plan, actor);
    },
    2,
    findOrAdmit,
  ),
  "set-quota": change(
    (words) => {
      const tier = oneOf("TIER", words.at(1, "a tier").toUpperCase(), TIERS);
      const limit = numberOrPlan(words.at(2, "a number, or the word plan"));
      return (accounts, customerId, actor) => accounts.setQuota(customerId, tier, limit, actor);
    },
    3,
    findOrAdmit,
  ),
  "set-rate-limit": change(
    (words) => {
      const rateClass = oneOf("CLASS", words.at(1, "a class"), RATE_CLASSES);
      const limit = numberOrPlan(words.at(2, "a number, or the word plan"));
      return (accounts, customerId, actor) => accounts.setRateLimits(customerId, { [rateClass]: limit }, actor);
    },
    3,
    findOrAdmit,
  ),
  disable: change(() => (accounts, customerId, actor) => accounts.disable(customerId, actor), 1, findOrAdmit),
  enable: change(() => (accounts, customerId, actor) => accounts.enable(customerId, actor), 1),
  "create-key": {
    words: [2, 2],
    options: [],
    parse(words) {
      const who = words.at(0, "a customer");
      const name = words.at(1, "a name for the key");
      return async (accounts, actor) => {
        const { customerId } = await find(accounts, who);
        return answerKey(customerId, await accounts.createKey(customerId, name, actor));
      };
    },
  },
  rotate: {
    words: [1, 2],
    options: [],
    parse(words) {
      const who = words.at(0, "a customer");
      const which = words.at(1, "");
      return async (accounts, actor) => {
        const account = await find(accounts, who);
        const { keyId } = livingKey(account, which);
        return answerKey(account.customerId, await accounts.rotateKey(account.customerId, keyId, actor));
      };
    },
  },
  revoke: change((words) => {
    const which = words.at(1, "a key");
    return (accounts, customerId, actor, account) =>
      accounts.revokeKey(customerId, livingKey(account, which).keyId, actor);
  }, 2),
  audit: {
    words: [0, 1],
    options: ["limit", "before"],
    parse({ at, options }) {
      const who = at(0, "");
      const limit = pageLimit(options);
      const { before } = options;
      const older = before === undefined ? {} : { before: wholeNumber("--before", before, Number.MAX_SAFE_INTEGER) };
      return async (accounts) => {
        const of = who === "" ? {} : { customerId: (await find(accounts, who)).customerId };
        const found = (await accounts.auditLog({ ...of, ...older, limit: limit + 1 })).map(presentAudit);
        const entries = found.slice(0, limit);
        return { json: entries, text: auditText(entries), note: more(found, limit, "before", "audit_id") };
      };
    },
  },
};

type Change = (accounts: Accounts, customerId: string, actor: Actor, account: Account) => Promise<void>;

/** A verb that changes one customer and shows it as it is then. */
function change(parse: (words: Words) => Change, wordCount: number, seek: typeof findOrAdmit = find): Verb {
  return {
    words: [wordCount, wordCount],
    options: [],
    parse(words) {
      const who = words.at(0, "a customer");
      const apply = parse(words);
      return async (accounts, actor) => {
        const account = await seek(accounts, who, actor);
        await apply(accounts, account.customerId, actor, account);
        return answerAccount(await accounts.account(account.customerId));
      };
    },
  };
}

/** The user whom WHO names at the marketplace; null where it is an id or an address. */
const marketplaceUser = (who: string): string | null =>
  who.startsWith(MARKETPLACE) ? who.slice(MARKETPLACE.length) : null;

async function find(accounts: Accounts, who: string): Promise<Account> {
  const user = marketplaceUser(who);
  const account = await accounts.find(user === null ? who : marketplaceCustomerId(user));
  if (account === null) throw new AppError("customer_not_found", `There is no customer "${who}"`);
  return account;
}

/** A marketplace's users have no account until an operator gives one numbers of its own, or shuts it out. */
async function findOrAdmit(accounts: Accounts, who: string, actor: Actor): Promise<Account> {
  const user = marketplaceUser(who);
  if (user !== null && user !== "")
    await accounts.admit(marketplaceCustomerId(user), isPlainName(who, CUSTOMER_NAME_LENGTH_MAX) ? who : null, actor);
  return find(accounts, who);
}

/** By id or name; the only one where none is named. */
function livingKey({ keys }: Account, which: string) {
  const living = keys.filter(({ revokedAt }) => revokedAt === null);
  const [first, second] = living.filter(({ keyId, name }) => which === "" || which === keyId || which === name);
  if (first === undefined) throw new AppError("key_not_found", "There is no such living key");
  if (second !== undefined) throw new UsageError(`Say which key: ${living.map(({ name }) => name).join(", ")}.`);
  return first;
}

function answerAccount(account: Account): Answer {
  const json = presentAccount(account);
  return { json, text: accountText(json) };
}

function answerKey(customerId: string, key: Parameters<typeof presentIssuedKey>[0]): Answer {
  const json = { customer_id: customerId, ...presentIssuedKey(key) };
  return { json, text: issuedKeyText(json) };
}

function oneOf<Word extends string>(what: string, text: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) throw new UsageError(`${what}: ${text} is not one of ${words.join(", ").toLowerCase()}.`);
  return word;
}

function wholeNumber(what: string, text: string, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= max) return value;
  throw new UsageError(`${what}: give a whole number from 1 to ${max}.`);
}

const pageLimit = ({ limit = String(LIST_LIMIT) }: Options): number =>
  wholeNumber("--limit", limit, LIST_LIMIT_MAX - 1);

/** Where more was found than is shown: how to go on. */
function more<Row extends object>(
  found: readonly Row[],
  limit: number,
  option: "after" | "before",
  id: keyof Row,
): string {
  const last = found.length > limit ? found[limit - 1] : undefined;
  return last === undefined ? "" : `more: --${option} ${String(last[id])}\n`;
}

/** The bounds are the account's to know. */
function numberOrPlan(text: string): number | null {
  if (text === "plan") return null;
  if (!/^\d{1,12}$/.test(text)) throw new UsageError(`${text}: give a whole number, or the word plan.`);
  return Number(text);
}

const misunderstood = (message: string): CommandResult => ({
  code: 2,
  out: "",
  err: `${message} Try "customers --help".\n`,
});

/** What `parseArgs` throws for a word that it does not know. */
function isParseFault(error: unknown): error is Error {
  return error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}
