import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Plan } from "../../domain/plan.ts";
import type { Random } from "../../ports/random.ts";

const SERVICE = "plx";
const PLAN_WORDS: Readonly<Record<Plan, string>> = { free: "free", pro: "pro", enterprise: "ent" };
const PLANS: Readonly<Record<string, Plan>> = { free: "free", pro: "pro", ent: "enterprise" };
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const RANDOM_LENGTH = 26;
const CHECKSUM_LENGTH = 7;
const KEY = /^plx_(free|pro|ent)_[a-z2-7]{26}[a-z2-7]{7}$/;
/** How much of the key is kept to tell keys apart on a page: the plan and four of its 26 random characters. */
const SHOWN_RANDOM_LENGTH = 4;

/** A key's text is in the caller's hand only; this is what it says by itself. */
export interface ParsedKey {
  /** A hint for the reader: what counts is the plan in the store. */
  readonly plan: Plan;
  /** SHA-256 of the whole key, the only form that is stored. */
  readonly hash: Uint8Array;
}

export interface NewKey extends ParsedKey {
  /** Shown once and never kept. */
  readonly key: string;
  /** The key's beginning, for display. */
  readonly prefix: string;
}

/** Base32 characters, five random bits each: a byte's low five bits are uniform because 256 is a multiple of 32. */
export function randomBase32(random: Random, length: number): string {
  return Array.from(random.bytes(length), (byte) => ALPHABET[byte & 31]).join("");
}

/** CRC-32 of ASCII text as seven base32 characters, most significant first; the first one is a to d. */
function checksum(text: string): string {
  let rest = crc32(text);
  let characters = "";
  for (let position = 0; position < CHECKSUM_LENGTH; position++) {
    characters = ALPHABET[rest % 32] + characters;
    rest = Math.floor(rest / 32);
  }
  return characters;
}

/** SHA-256 of a key. A fast hash suffices: 130 random bits cannot be guessed, and a slow one would cap every request. */
function hashKey(key: string): Uint8Array {
  return new Uint8Array(hash("sha256", key, "buffer"));
}

/** A new key: `plx_<plan word>_<26 random base32 characters><7 of CRC-32 over everything before>`. */
export function createKey(random: Random, plan: Plan): NewKey {
  const body = `${SERVICE}_${PLAN_WORDS[plan]}_${randomBase32(random, RANDOM_LENGTH)}`;
  const key = body + checksum(body);
  return { plan, key, hash: hashKey(key), prefix: body.slice(0, body.length - RANDOM_LENGTH + SHOWN_RANDOM_LENGTH) };
}

/**
 * Reads a key, or null for text that cannot be one: wrong form or wrong checksum. The checksum is public knowledge; it
 * keeps typing errors and noise away from the store and proves nothing.
 */
export function parseKey(text: string): ParsedKey | null {
  const word = KEY.exec(text)?.[1];
  const plan = word === undefined ? undefined : PLANS[word];
  if (plan === undefined) return null;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return checksum(body) === text.slice(-CHECKSUM_LENGTH) ? { plan, hash: hashKey(text) } : null;
}

/** A key's hash as hex text, to file it under; null for text that has not even the form of one. */
export function keyName(text: string): string | null {
  return KEY.test(text) ? hash("sha256", text, "hex") : null;
}
