import { hash } from "node:crypto";
import { randomBase32 } from "../../../lib/random-text.ts";
import type { Random } from "../../../ports/random.ts";

/** Number of base32 characters: 130 random bits. */
const TOKEN_LENGTH = 26;
const TOKEN_PATTERN = /^[a-z2-7]{26}$/;

/** Creates the secret token of a link or a session. */
export const createToken = (random: Random): string => randomBase32(random, TOKEN_LENGTH);

/** Whether the text has the format of a token. Does not check that the token exists. */
export const isToken = (text: string): boolean => TOKEN_PATTERN.test(text);

/** Returns the SHA-256, which is stored instead of the token. A fast hash is sufficient for 130 random bits. */
export const hashToken = (token: string): Uint8Array => new Uint8Array(hash("sha256", token, "buffer"));
