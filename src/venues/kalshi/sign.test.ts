import assert from "node:assert/strict";
import { constants, generateKeyPairSync, verify } from "node:crypto";
import { test } from "node:test";
import { createSigner } from "./sign.ts";

test("signs timestamp, method and path with RSA-PSS; the signature is invalid for another path", () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const privateKeyPem = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
  const signer = createSigner({ keyId: "key-1", privateKeyPem });
  const headers = signer("GET", "/trade-api/ws/v2", 1_795_229_999_123);
  const isValid = (text: string) =>
    verify(
      "sha256",
      Buffer.from(text),
      { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 },
      Buffer.from(headers["KALSHI-ACCESS-SIGNATURE"] ?? "", "base64"),
    );
  assert.equal(headers["KALSHI-ACCESS-TIMESTAMP"], "1795229999123");
  assert.ok(isValid("1795229999123GET/trade-api/ws/v2"));
  assert.ok(!isValid("1795229999123GET/trade-api/v2/markets"));
});
