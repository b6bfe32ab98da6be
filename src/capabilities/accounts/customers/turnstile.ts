import { hash } from "node:crypto";
import { AppError, VenueError } from "../../../domain/errors.ts";
import { normaliseIpAddress } from "../../../lib/ip-prefix.ts";
import { isObject } from "../../../lib/is-object.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { HttpOut } from "../../../ports/http-out.ts";
import type { Random } from "../../../ports/random.ts";
import type { AreaPorts } from "../../area-ports.ts";

/** Checks whether a human submitted a form. */
export interface BotCheck {
  /**
   * @param token    from the widget in the form
   * @param address  the caller's IP address
   * @throws AppError `bot_check_unavailable` if the check cannot be completed
   */
  passes(token: string, address: string): Promise<boolean>;
}

export const TURNSTILE_URL = "https://challenges.cloudflare.com/turnstile/v0/siteverify";
/** The required action of the widget in the sign-up form (`data-action`). */
export const TURNSTILE_ACTION = "signup";
/** Turnstile's published test token: issued only for test site keys and accepted only with test secrets. */
export const TURNSTILE_DUMMY_TOKEN = "XXXX.DUMMY.TOKEN.XXXX";
/** Turnstile's published test secrets, which pass every token, fail every token, or report every token as used. */
const TEST_SECRET_PATTERN = /^[123]x0{10,}AA$/;
export const TURNSTILE_TOKEN_LENGTH_MAX = 2_048;

const TIMEOUT_MS = 5_000;
const RESPONSE_BYTES_MAX = 16 * 1024;
/** The retry uses the same idempotency key, so that a token stays valid if the first response was lost. */
const ATTEMPTS_MAX = 2;
/** How long used tokens are stored; Turnstile tokens expire after five minutes. */
const USED_TOKEN_MS = 10 * 60_000;
const USED_TOKENS_MAX = 10_000;
const CONCURRENT_CHECKS_MAX = 64;
/** Error codes caused by the server's configuration. */
const CONFIGURATION_ERROR_CODES: ReadonlySet<unknown> = new Set([
  "missing-input-secret",
  "invalid-input-secret",
  "bad-request",
]);

export function isTurnstileTestSecret(secret: string): boolean {
  return TEST_SECRET_PATTERN.test(secret);
}

/** For a sandbox without a secret: accepts only the published test token, any number of times. */
export const dummyBotCheck: BotCheck = { passes: async (token) => token === TURNSTILE_DUMMY_TOKEN };

interface Verdict {
  readonly success: boolean;
  readonly "error-codes"?: readonly unknown[];
  readonly hostname?: unknown;
  readonly action?: unknown;
}

/** Verifies tokens with Cloudflare Turnstile's siteverify API. Each token is accepted once, even in concurrent requests. */
export function createTurnstile(
  options: Pick<AreaPorts, "clock" | "random" | "log"> & {
    readonly http: HttpOut;
    readonly secret: string;
    readonly url?: string;
    /** The host of the form; tokens issued on other hosts are rejected. Null accepts any host. */
    readonly hostname: string | null;
    /** Per attempt; 5 s by default. */
    readonly deadlineMs?: number;
  },
): BotCheck {
  const { http, clock, random, log, secret, url = TURNSTILE_URL, hostname, deadlineMs = TIMEOUT_MS } = options;
  const usedTokens = createUsedTokens(clock, random);
  let concurrentChecks = 0;

  const requestVerdict = async (token: string, address: string, idempotencyKey: string): Promise<Verdict | null> => {
    // Omitted if the address is not an IP address: Turnstile would reject the token.
    const remoteip = normaliseIpAddress(address) ?? undefined;
    const body = JSON.stringify({ secret, response: token, remoteip, idempotency_key: idempotencyKey });
    const headers = { "content-type": "application/json" };
    try {
      const request = { method: "POST" as const, url, headers, body };
      const response = await http.send({ ...request, deadlineMs, maxBodyBytes: RESPONSE_BYTES_MAX });
      return response.status < 500 ? parseVerdict(response.body) : null;
    } catch (error) {
      if (error instanceof VenueError) return null;
      throw error;
    }
  };

  const verifyToken = async (token: string, address: string, idempotencyKey: string): Promise<Verdict> => {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const verdict = await requestVerdict(token, address, idempotencyKey);
      if (verdict !== null && !readErrorCodes(verdict).includes("internal-error")) return verdict;
    }
    throw createUnavailableError();
  };

  const isHuman = (verdict: Verdict): boolean => {
    if (!verdict.success) {
      const codes = readErrorCodes(verdict).filter((code) => CONFIGURATION_ERROR_CODES.has(code));
      if (codes.length === 0) return false;
      log.error({ codes }, "Turnstile rejected the verification request; check PARALLAX_TURNSTILE_SECRET");
      throw createUnavailableError();
    }
    // Responses for test secrets contain a fixed hostname and no action.
    if (isTurnstileTestSecret(secret)) return true;
    return verdict.action === TURNSTILE_ACTION && (hostname === null || verdict.hostname === hostname);
  };

  return {
    async passes(token, address) {
      if (concurrentChecks >= CONCURRENT_CHECKS_MAX) throw createUnavailableError();
      const idempotencyKey = usedTokens.take(token);
      if (idempotencyKey === null) return false;
      concurrentChecks += 1;
      try {
        return isHuman(await verifyToken(token, address, idempotencyKey));
      } catch (error) {
        // The token was not verified, so the caller may submit it again.
        usedTokens.release(token);
        throw error;
      } finally {
        concurrentChecks -= 1;
      }
    },
  };
}

const createUnavailableError = () =>
  new AppError("bot_check_unavailable", "The bot check is temporarily unavailable; try again in a moment");

function readErrorCodes(verdict: Verdict): readonly unknown[] {
  const codes = verdict["error-codes"];
  return Array.isArray(codes) ? codes : [];
}

/** Returns the verdict, or null if the text is not a siteverify response, for example a gateway's error page. */
function parseVerdict(text: string): Verdict | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && typeof value.success === "boolean" ? (value as unknown as Verdict) : null;
  } catch {
    return null;
  }
}

/** Stores the hashes of the tokens used on this node in the last ten minutes. Beyond `USED_TOKENS_MAX` the oldest is evicted. */
function createUsedTokens(clock: Clock, random: Random) {
  const tokens = new Map<string, { readonly at: number; readonly idempotencyKey: string; isUsed: boolean }>();
  const hashToken = (token: string) => hash("sha256", token, "base64url");
  const evictExpiredTokens = () => {
    for (const [key, { at }] of tokens) {
      if (tokens.size <= USED_TOKENS_MAX && clock.monotonic() - at < USED_TOKEN_MS) return;
      tokens.delete(key);
    }
  };
  return {
    /**
     * Marks a token as used and returns its idempotency key, or null if it is already used. A released token keeps its
     * key, because Turnstile may have consumed the token in a request whose response was lost. Other nodes use other
     * keys, so Turnstile rejects replays there.
     */
    take(token: string): string | null {
      evictExpiredTokens();
      const key = hashToken(token);
      const knownEntry = tokens.get(key);
      if (knownEntry?.isUsed === true) return null;
      const entry = knownEntry ?? { at: clock.monotonic(), idempotencyKey: createUuid(random), isUsed: true };
      entry.isUsed = true;
      tokens.set(key, entry);
      return entry.idempotencyKey;
    },
    release(token: string): void {
      const entry = tokens.get(hashToken(token));
      if (entry !== undefined) entry.isUsed = false;
    },
  };
}

/** A random UUID (version 4). */
function createUuid(random: Random): string {
  const bytes = random.bytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
