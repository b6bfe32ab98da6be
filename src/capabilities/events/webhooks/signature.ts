import { createHmac } from "node:crypto";
import { type SecretBox, SecretSealError } from "../../../ports/secret-box.ts";
import type { SealedSecrets } from "./model.ts";

const PREFIX = "whsec_";
const KEY_BYTES_MIN = 24;
const KEY_BYTES_MAX = 64;

/**
 * Returns the key of a secret: the decoded bytes of `whsec_` and base64 of 24 to 64 bytes, as specified by Standard
 * Webhooks, or the UTF-8 bytes of any other text.
 */
export function signingKeyOf(secret: string): Buffer {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : null;
  const bytes = Buffer.from(encoded ?? "", "base64");
  const isEncoded = encoded !== null && bytes.toString("base64").replace(/=+$/, "") === encoded.replace(/=+$/, "");
  return isEncoded && bytes.length >= KEY_BYTES_MIN && bytes.length <= KEY_BYTES_MAX ? bytes : Buffer.from(secret);
}

export const formatSecret = (bytes: Uint8Array): string => `${PREFIX}${Buffer.from(bytes).toString("base64")}`;

export interface SigningSecrets {
  readonly current: string;
  /** The replaced secret, which is also used until `until` (Unix milliseconds). */
  readonly previous: { readonly secret: string; readonly until: number } | null;
}

/**
 * Decrypts the secrets of a webhook. A replaced secret that cannot be decrypted is ignored, so that a new secret
 * repairs a webhook whose key was lost.
 *
 * @throws SecretSealError if the current secret was sealed with another key or for another webhook
 */
export function openSecrets(
  seal: Pick<SecretBox, "open">,
  webhookId: string,
  { sealedSecret, sealedPreviousSecret, previousSecretUntil }: SealedSecrets,
): SigningSecrets {
  const current = seal.open(sealedSecret, webhookId);
  if (sealedPreviousSecret === null) return { current, previous: null };
  try {
    return {
      current,
      previous: { secret: seal.open(sealedPreviousSecret, webhookId), until: previousSecretUntil ?? 0 },
    };
  } catch (error) {
    if (!(error instanceof SecretSealError)) throw error;
    return { current, previous: null };
  }
}

/**
 * Returns the headers that sign a delivery by Standard Webhooks 1.0.0, and `x-webhook-signature`, the HMAC of the body
 * alone in hex.
 *
 * @param id  without dots; the same in every attempt
 * @param sentAt  Unix milliseconds of the attempt
 */
export function signDelivery(
  { id, sentAt, body }: { readonly id: string; readonly sentAt: number; readonly body: string },
  { current, previous }: SigningSecrets,
): Record<string, string> {
  const timestamp = String(Math.floor(sentAt / 1_000));
  const secrets = previous !== null && sentAt < previous.until ? [current, previous.secret] : [current];
  const content = `${id}.${timestamp}.${body}`;
  const sign = (secret: string) => `v1,${createHmac("sha256", signingKeyOf(secret)).update(content).digest("base64")}`;
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets.map(sign).join(" "),
    "x-webhook-signature": createHmac("sha256", signingKeyOf(current)).update(body).digest("hex"),
  };
}
