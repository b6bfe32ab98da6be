import { constants, type KeyObject, verify } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** RSA public keys by key id; null lets any well-formed signature in. */
export type KeyRing = ReadonlyMap<string, KeyObject> | null;

export type Identity =
  | { readonly kind: "none" }
  | { readonly kind: "key"; readonly keyId: string }
  | { readonly kind: "bad" };

const BASE64 = /^[A-Za-z0-9+/]{80,1400}={0,2}$/;

/**
 * Who sent a request, by the three KALSHI-ACCESS-* headers: RSA-PSS (SHA-256, salt as long as the digest) over
 * timestamp, method and path without query.
 */
export function identify(keys: KeyRing, headers: IncomingHttpHeaders, method: string, path: string): Identity {
  const keyId = headers["kalshi-access-key"];
  const timestamp = headers["kalshi-access-timestamp"];
  const signature = headers["kalshi-access-signature"];
  if (keyId === undefined && timestamp === undefined && signature === undefined) return { kind: "none" };
  const isWellFormed =
    typeof keyId === "string" &&
    keyId !== "" &&
    typeof timestamp === "string" &&
    /^\d{13}$/.test(timestamp) &&
    typeof signature === "string" &&
    BASE64.test(signature);
  if (!isWellFormed) return { kind: "bad" };
  if (keys === null) return { kind: "key", keyId };
  const key = keys.get(keyId);
  if (key === undefined) return { kind: "bad" };
  const isGenuine = verify(
    "sha256",
    Buffer.from(timestamp + method + path),
    { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
    Buffer.from(signature, "base64"),
  );
  return isGenuine ? { kind: "key", keyId } : { kind: "bad" };
}
