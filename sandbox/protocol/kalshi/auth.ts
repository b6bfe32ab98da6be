import { constants, type KeyObject, verify } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** RSA public keys by key id. If null, every well-formed signature is accepted. */
export type KeyRing = ReadonlyMap<string, KeyObject> | null;

/** "none": the request is unsigned. "bad": the key is unknown, or the signature is malformed or invalid. */
export type Identity =
  | { readonly kind: "none" }
  | { readonly kind: "key"; readonly keyId: string }
  | { readonly kind: "bad" };

const SIGNATURE_PATTERN = /^[A-Za-z0-9+/]{80,1400}={0,2}$/;

/**
 * Verifies the three KALSHI-ACCESS-* headers. The signature is RSA-PSS (SHA-256, salt as long as the digest) over the
 * timestamp, the method and the path without its query.
 */
export function identifyClient(keys: KeyRing, headers: IncomingHttpHeaders, method: string, path: string): Identity {
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
    SIGNATURE_PATTERN.test(signature);
  if (!isWellFormed) return { kind: "bad" };
  if (keys === null) return { kind: "key", keyId };
  const key = keys.get(keyId);
  if (key === undefined) return { kind: "bad" };
  const isValid = verify(
    "sha256",
    Buffer.from(timestamp + method + path),
    { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
    Buffer.from(signature, "base64"),
  );
  return isValid ? { kind: "key", keyId } : { kind: "bad" };
}
