import { createHmac } from "node:crypto";

const PREFIX = "whsec_";
const KEY_BYTES_MIN = 24;
const KEY_BYTES_MAX = 64;

/**
 * Returns the key of a secret: the decoded bytes of `whsec_` and base64 of 24 to 64 bytes, as Standard Webhooks says, or
 * the UTF-8 bytes of any other text.
 */
export function keyOf(secret: string): Buffer {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : null;
  const bytes = Buffer.from(encoded ?? "", "base64");
  const isEncoded = encoded !== null && bytes.toString("base64").replace(/=+$/, "") === encoded.replace(/=+$/, "");
  return isEncoded && bytes.length >= KEY_BYTES_MIN && bytes.length <= KEY_BYTES_MAX ? bytes : Buffer.from(secret);
}

export const formatSecret = (bytes: Uint8Array): string => `${PREFIX}${Buffer.from(bytes).toString("base64")}`;

/**
 * Returns the headers that sign a delivery by Standard Webhooks 1.0.0, and `x-webhook-signature`, the HMAC of the body
 * alone in hex.
 *
 * @param id  without dots; the same in every attempt
 * @param sentAt  Unix milliseconds of the attempt
 * @param secrets  the current secret, followed by the previous one during a roll
 */
export function signDelivery(
  { id, sentAt, body }: { readonly id: string; readonly sentAt: number; readonly body: string },
  secrets: readonly [string, ...string[]],
): Record<string, string> {
  const timestamp = String(Math.floor(sentAt / 1_000));
  const content = `${id}.${timestamp}.${body}`;
  const sign = (secret: string) => `v1,${createHmac("sha256", keyOf(secret)).update(content).digest("base64")}`;
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets.map(sign).join(" "),
    "x-webhook-signature": createHmac("sha256", keyOf(secrets[0])).update(body).digest("hex"),
  };
}
