import { hash } from "node:crypto";
import { AppError, VenueError } from "../../domain/errors.ts";
import { plainAddress } from "../../lib/address-block.ts";
import type { Clock } from "../../ports/clock.ts";
import type { HttpOut } from "../../ports/http-out.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";

/** Says whether a human asks. */
export interface BotCheck {
  /**
   * @param token    what the widget gave the form
   * @param address  the caller's network address
   * @throws AppError `bot_check_unavailable` when nobody can tell: then nobody is let through
   */
  passes(token: string, address: string): Promise<boolean>;
}

export const TURNSTILE_URL = "https://challenges.cloudflare.com/turnstile/v0/siteverify";
/** The action that the widget of the sign-up form is to carry (`data-action`). */
export const TURNSTILE_ACTION = "signup";
/** Published for tests: the widget with a test site key gives this token, and only a test secret takes it. */
export const TURNSTILE_DUMMY_TOKEN = "XXXX.DUMMY.TOKEN.XXXX";
/** Published secrets that pass, refuse, or call every token spent; they let anybody in, or nobody. */
const TEST_SECRET = /^[123]x0{10,}AA$/;
export const TOKEN_LENGTH_MAX = 2_048;

const DEADLINE_MS = 5_000;
const ANSWER_BYTES_MAX = 16 * 1024;
/** The second attempt carries the same idempotency key, so that a token spent by a lost answer is not spent twice. */
const ATTEMPTS_MAX = 2;
/** A token lives for five minutes; its hash is kept for longer than it can be of use. */
const SPENT_MS = 10 * 60_000;
const SPENT_MAX = 10_000;
const CHECKS_AT_ONCE_MAX = 64;
/** Our own mistakes, which no caller can mend. */
const MISCONFIGURED: ReadonlySet<unknown> = new Set(["missing-input-secret", "invalid-input-secret", "bad-request"]);

export function isTestSecret(secret: string): boolean {
  return TEST_SECRET.test(secret);
}

/** In a sandbox without a secret: the published dummy token passes, as often as it comes, and nothing else does. */
export const dummyBotCheck: BotCheck = { passes: async (token) => token === TURNSTILE_DUMMY_TOKEN };

interface Verdict {
  readonly success: boolean;
  readonly "error-codes"?: readonly unknown[];
  readonly hostname?: unknown;
  readonly action?: unknown;
}

/** Cloudflare Turnstile's siteverify. A token is used once, also where two requests show it at the same time. */
export function createTurnstile(options: {
  readonly http: HttpOut;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly secret: string;
  readonly url?: string;
  /** Where the form stands; tokens of other sites are refused. Null believes any. */
  readonly hostname: string | null;
  /** Of one attempt, five seconds by default. */
  readonly deadlineMs?: number;
}): BotCheck {
  const { http, clock, random, log, secret, url = TURNSTILE_URL, hostname, deadlineMs = DEADLINE_MS } = options;
  const spent = createSpentTokens(clock, random);
  let underWay = 0;

  const ask = async (token: string, address: string, idempotencyKey: string): Promise<Verdict | null> => {
    // Left out where a proxy names its client otherwise: the checker would refuse the token for it.
    const remoteip = plainAddress(address) ?? undefined;
    const body = JSON.stringify({ secret, response: token, remoteip, idempotency_key: idempotencyKey });
    const headers = { "content-type": "application/json" };
    try {
      const request = { method: "POST" as const, url, headers, body };
      const answer = await http.send({ ...request, deadlineMs, maxBodyBytes: ANSWER_BYTES_MAX });
      return answer.status < 500 ? readVerdict(answer.body) : null;
    } catch (error) {
      if (error instanceof VenueError) return null;
      throw error;
    }
  };

  const verdictOf = async (token: string, address: string, idempotencyKey: string): Promise<Verdict> => {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const verdict = await ask(token, address, idempotencyKey);
      if (verdict !== null && !codesOf(verdict).includes("internal-error")) return verdict;
    }
    throw unavailable();
  };

  const judge = (verdict: Verdict): boolean => {
    if (!verdict.success) {
      const ours = codesOf(verdict).filter((code) => MISCONFIGURED.has(code));
      if (ours.length === 0) return false;
      log.error({ codes: ours }, "the bot check refuses the way it is asked: is PARALLAX_TURNSTILE_SECRET right?");
      throw unavailable();
    }
    // Answers to test secrets always name the same site and no action.
    if (isTestSecret(secret)) return true;
    return verdict.action === TURNSTILE_ACTION && (hostname === null || verdict.hostname === hostname);
  };

  return {
    async passes(token, address) {
      if (underWay >= CHECKS_AT_ONCE_MAX) throw unavailable();
      const idempotencyKey = spent.take(token);
      if (idempotencyKey === null) return false;
      underWay += 1;
      try {
        return judge(await verdictOf(token, address, idempotencyKey));
      } catch (error) {
        // Nobody has judged it: it may come again.
        spent.release(token);
        throw error;
      } finally {
        underWay -= 1;
      }
    },
  };
}

const unavailable = () =>
  new AppError("bot_check_unavailable", "The bot check cannot be reached at the moment; try again in a moment");

function codesOf(verdict: Verdict): readonly unknown[] {
  const codes = verdict["error-codes"];
  return Array.isArray(codes) ? codes : [];
}

/** Null for anything that is not siteverify's answer, a gateway's page for example. */
function readVerdict(text: string): Verdict | null {
  try {
    const value: unknown = JSON.parse(text);
    const isVerdict = typeof value === "object" && value !== null && "success" in value;
    return isVerdict && typeof value.success === "boolean" ? (value as Verdict) : null;
  } catch {
    return null;
  }
}

/** Tokens shown here in the last ten minutes, by hash; beyond the bound the oldest is forgotten. */
function createSpentTokens(clock: Clock, random: Random) {
  const shown = new Map<string, { readonly at: number; readonly idempotencyKey: string; isSpent: boolean }>();
  const nameOf = (token: string) => hash("sha256", token, "base64url");
  const forget = () => {
    for (const [name, { at }] of shown) {
      if (shown.size <= SPENT_MAX && clock.monotonic() - at < SPENT_MS) return;
      shown.delete(name);
    }
  };
  return {
    /**
     * The id to ask under; null where the token was shown before. One that was released has the same id again, because
     * the checker may have used it up with an answer that was lost. On another node it has another: there it is a replay.
     */
    take(token: string): string | null {
      forget();
      const name = nameOf(token);
      const known = shown.get(name);
      if (known?.isSpent === true) return null;
      const entry = known ?? { at: clock.monotonic(), idempotencyKey: uuid(random), isSpent: true };
      entry.isSpent = true;
      shown.set(name, entry);
      return entry.idempotencyKey;
    },
    release(token: string): void {
      const entry = shown.get(nameOf(token));
      if (entry !== undefined) entry.isSpent = false;
    },
  };
}

/** A random UUID (version 4). */
function uuid(random: Random): string {
  const bytes = random.bytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
