import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Plan } from "../../../domain/plan.ts";
import { BASE32_ALPHABET, randomBase32 } from "../../../lib/random-text.ts";
import type { Random } from "../../../ports/random.ts";

const SERVICE_LABEL = "plx";
const PLAN_LABELS: Readonly<Record<Plan, string>> = { free: "free", pro: "pro", enterprise: "ent" };
const PLANS_BY_LABEL: Readonly<Record<string, Plan>> = { free: "free", pro: "pro", ent: "enterprise" };
const RANDOM_LENGTH = 26;
const CHECKSUM_LENGTH = 7;
const KEY_PATTERN = /^plx_(free|pro|ent)_[a-z2-7]{26}[a-z2-7]{7}$/;
/** The stored prefix consists of the plan and this many of the 26 random characters. */
const PREFIX_RANDOM_LENGTH = 4;

/** The data that can be derived from the text of a key. */
export interface ParsedKey {
  /** The plan at the creation of the key. The current plan is in the database. */
  readonly plan: Plan;
  /** SHA-256 of the whole key; the only form that is stored. */
  readonly hash: Uint8Array;
}

export interface NewKey extends ParsedKey {
  /** The full key; displayed once and not stored. */
  readonly key: string;
  /** The first characters of the key, for display. */
  readonly prefix: string;
}

/** CRC-32 of ASCII text as seven base32 characters, most significant first. */
function computeChecksum(text: string): string {
  let remainder = crc32(text);
  let characters = "";
  for (let position = 0; position < CHECKSUM_LENGTH; position++) {
    characters = BASE32_ALPHABET[remainder % 32] + characters;
    remainder = Math.floor(remainder / 32);
  }
  return characters;
}

/** SHA-256 of a key. A fast hash is sufficient, because 130 random bits cannot be guessed. */
function hashKey(key: string): Uint8Array {
  return new Uint8Array(hash("sha256", key, "buffer"));
}

/** Creates a key: `plx_<plan label>_<26 random base32 characters><CRC-32 of all preceding text, 7 base32 characters>`. */
export function createKey(random: Random, plan: Plan): NewKey {
  const body = `${SERVICE_LABEL}_${PLAN_LABELS[plan]}_${randomBase32(random, RANDOM_LENGTH)}`;
  const key = body + computeChecksum(body);
  return { plan, key, hash: hashKey(key), prefix: body.slice(0, body.length - RANDOM_LENGTH + PREFIX_RANDOM_LENGTH) };
}

/**
 * Returns the plan in the prefix of a key, or null if the key's format or checksum is wrong. The checksum saves database
 * look-ups for mistyped keys; it is not a security feature.
 */
export function planOfKey(text: string): Plan | null {
  const label = KEY_PATTERN.exec(text)?.[1];
  const body = text.slice(0, -CHECKSUM_LENGTH);
  if (label === undefined || computeChecksum(body) !== text.slice(-CHECKSUM_LENGTH)) return null;
  return PLANS_BY_LABEL[label] ?? null;
}

/** Returns the parsed key, or null if its format or checksum is wrong. */
export function parseKey(text: string): ParsedKey | null {
  const plan = planOfKey(text);
  return plan === null ? null : { plan, hash: hashKey(text) };
}

/** Returns the hash of a key in hex for use as cache key, or null if the format is wrong. Does not verify the checksum. */
export function hashOfKey(text: string): string | null {
  return KEY_PATTERN.test(text) ? hash("sha256", text, "hex") : null;
}
