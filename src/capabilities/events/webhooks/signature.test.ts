import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { formatSecret, type SigningSecrets, signDelivery, signingKeyOf } from "./signature.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

test("signs the test vector of Standard Webhooks", () => {
  const delivery = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", sentAt: 1_614_265_330_999, body: '{"test": 2432232314}' };
  assert.deepEqual(signDelivery(delivery, { current: SECRET, previous: null }), {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    "x-webhook-signature": createHmac("sha256", Buffer.from(SECRET.slice(6), "base64"))
      .update(delivery.body)
      .digest("hex"),
  });
});

test("the reference library verifies the signatures of any body by any current or previous secret", () => {
  const anySecret = fc.oneof(
    fc.uint8Array({ minLength: 24, maxLength: 64 }).map(formatSecret),
    fc.string({ minLength: 1, maxLength: 256, unit: "binary" }).filter((text) => !text.startsWith("whsec_")),
  );
  fc.assert(
    fc.property(anySecret, anySecret, fc.string({ unit: "binary" }), (secret, previous, title) => {
      const sentAt = Date.now();
      const secrets = { current: secret, previous: { secret: previous, until: sentAt + 1 } };
      const body = JSON.stringify({ title });
      const headers = signDelivery({ id: "evt_1", sentAt, body }, secrets);
      for (const each of [secret, previous]) {
        const isEncoded = each.startsWith("whsec_");
        const verifier = isEncoded ? new Webhook(each) : new Webhook(Buffer.from(each), { format: "raw" });
        assert.deepEqual(verifier.verify(body, headers), { title });
      }
      const other = new Webhook(formatSecret(randomBytes(32)));
      assert.throws(() => other.verify(body, headers));
      assert.throws(() => new Webhook(Buffer.from(secret), { format: "raw" }).verify(`${body} `, headers));
    }),
  );
});

test("deliveries are also signed with the previous secret until it expires; `x-webhook-signature` uses only the current one", () => {
  const sign = (sentAt: number, current: string, previous: SigningSecrets["previous"] = null) =>
    signDelivery({ id: "evt_1", sentAt, body: "{}" }, { current, previous });
  const previous = { secret: "old", until: 2_000 };
  const [byCurrent, byOld] = [sign(1_999, SECRET), sign(1_999, "old")];
  assert.deepEqual(sign(1_999, SECRET, previous), {
    ...byCurrent,
    "webhook-signature": `${byCurrent["webhook-signature"]} ${byOld["webhook-signature"]}`,
  });
  assert.deepEqual(sign(2_000, SECRET, previous), sign(2_000, SECRET));
});

test("a secret is decoded only if it is `whsec_` and base64 of 24 to 64 bytes; otherwise its UTF-8 bytes are the key", () => {
  const encode = (length: number) => `whsec_${Buffer.alloc(length, 7).toString("base64")}`;
  for (const length of [24, 25, 32, 64]) assert.deepEqual(signingKeyOf(encode(length)), Buffer.alloc(length, 7));
  assert.deepEqual(signingKeyOf(encode(25).replace(/=+$/, "")), Buffer.alloc(25, 7), "without padding");
  for (const text of [encode(23), encode(65), "whsec_", `${encode(24)}!`, encode(24).slice(6), "whsec_not base64", "é"])
    assert.deepEqual(signingKeyOf(text), Buffer.from(text, "utf8"), text);
});
