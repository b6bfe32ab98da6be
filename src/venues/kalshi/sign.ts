import { constants, createPrivateKey, sign } from "node:crypto";

export interface KalshiKey {
  readonly keyId: string;
  /** RSA private key, PEM. */
  readonly privateKeyPem: string;
}

/** Returns the authentication headers. `path` includes /trade-api/... and excludes the query string. */
export type Signer = (method: string, path: string, timestampMs: number) => Readonly<Record<string, string>>;

/**
 * Creates a signer for Kalshi: RSA-PSS (SHA-256, salt as long as the digest) over timestamp, method and path.
 * @throws Error if the key is not an RSA private key in PEM; the message does not contain the key
 */
export function createSigner({ keyId, privateKeyPem }: KalshiKey): Signer {
  const key = parseKey(privateKeyPem);
  return (method, path, timestampMs) => {
    const timestamp = String(timestampMs);
    const signature = sign("sha256", Buffer.from(timestamp + method + path), {
      key,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    });
    return {
      "KALSHI-ACCESS-KEY": keyId,
      "KALSHI-ACCESS-TIMESTAMP": timestamp,
      "KALSHI-ACCESS-SIGNATURE": signature.toString("base64"),
    };
  };
}

function parseKey(pem: string): ReturnType<typeof createPrivateKey> {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "rsa") return key;
  } catch {
    // The library's message may contain the key; the error below does not.
  }
  throw new Error("the Kalshi private key is not an RSA private key in PEM");
}
