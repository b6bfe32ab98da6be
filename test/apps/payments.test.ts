import assert from "node:assert/strict";
import { test } from "node:test";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { eachDatabase, embeddedDatabase } from "../support/databases.ts";
import { SECRET } from "../support/evm/paid-service.ts";
import {
  callWith,
  decode,
  fetchRequirements,
  type PaymentChanges,
  payingFetch,
  signPayment,
} from "../support/evm/payer.ts";
import { assertRejected, chain, facilitator, LISTING, startShop } from "../support/evm/shop.ts";
import { recordingLog } from "../support/test-app.ts";

eachDatabase("the public client library pays for a call, and the tokens are transferred", async (database) => {
  const shop = await startShop(database);
  const payer = await chain.newPayer(3n * LISTING);
  for (const version of [2, 1] as const) {
    const response = await payingFetch(payer, chain, version)(`${shop.url}/v1/markets`);
    assert.equal(response.status, 200);
    assert.match(await response.text(), /^\[/);
    const receipt = decode(response.headers.get(version === 2 ? "payment-response" : "x-payment-response"));
    assert.equal(receipt.success, true);
    assert.match(receipt.transaction, /^0x[0-9a-f]{64}$/);
    assert.equal(receipt.network, version === 2 ? chain.network : chain.networkV1);
    assert.equal(response.headers.get("cache-control"), "private");
  }
  assert.equal(await shop.earned(), 2n * LISTING);
  assert.equal(await chain.balanceOf(payer.address), LISTING);
  assert.deepEqual(await shop.states(), ["delivered", "delivered"]);
  await shop.close();
});

test("402: a call without credentials returns its price in the formats of both x402 versions", async () => {
  const shop = await startShop(await embeddedDatabase());
  const response = await fetch(`${shop.url}/v1/test/deep?n=1`);
  const text = await response.text();
  const body = JSON.parse(text);
  assert.equal(response.status, 402);
  assert.equal(response.headers.get("cache-control"), "no-store");
  const requirements = decode(response.headers.get("payment-required"));
  assert.equal(requirements.x402Version, 2);
  assert.deepEqual(requirements.resource, {
    url: "https://api.example.org/v1/test/deep",
    description: "Test deep",
    mimeType: "application/json",
  });
  const common = { asset: chain.token, payTo: shop.payTo, maxTimeoutSeconds: 300 };
  const extra = { name: chain.tokenName, version: chain.tokenVersion };
  assert.deepEqual(requirements.accepts, [
    { scheme: "exact", network: chain.network, amount: "5000000", ...common, extra },
  ]);
  assert.deepEqual([body.code, body.x402Version], ["payment_required", 1]);
  const { components } = JSON.parse(await (await fetch(`${shop.url}/openapi.json`)).text());
  const { PaymentRequired, Problem } = components.schemas;
  // Inlines the schema that allOf refers to.
  assert.ok(Compile<TSchema>({ ...PaymentRequired, allOf: [Problem] }).Check(JSON.parse(text)));
  assert.deepEqual(Object.keys(body).sort(), ["accepts", "code", "detail", "error", "x402Version"]);
  const [v1] = body.accepts;
  assert.deepEqual([v1.network, v1.maxAmountRequired, v1.payTo], [chain.networkV1, "5000000", shop.payTo]);
  assert.equal((await fetchRequirements(`${shop.url}/v1/markets`)).accepts[0]?.amount, "10000");
  // A route without a price returns 401.
  const account = await fetch(`${shop.url}/v1/test/account`);
  assert.equal(account.status, 401);
  await account.arrayBuffer();
  await shop.close();
});

test("if a request has an API key and a payment, the API key is used and the payment is not charged", async () => {
  const shop = await startShop(await embeddedDatabase());
  const payer = await chain.newPayer(LISTING);
  const { header } = await signPayment(payer, chain, await fetchRequirements(`${shop.url}/v1/test/after`));
  const withKey = await callWith(`${shop.url}/v1/test/after`, header, { headers: { authorization: "Bearer nobody" } });
  assert.equal(withKey.status, 401);
  assert.equal(await shop.transfers(), 0);
  const paid = await callWith(`${shop.url}/v1/test/after`, header);
  assert.equal(paid.status, 200, "the payment can still be used");
  await shop.close();
});

test("403: a route that needs an account accepts no payment", async () => {
  const shop = await startShop(await embeddedDatabase());
  const payer = await chain.newPayer(5_000_000n);
  const { header } = await signPayment(payer, chain, await fetchRequirements(`${shop.url}/v1/test/deep`));
  const response = await callWith(`${shop.url}/v1/test/account`, header);
  assert.deepEqual([response.status, JSON.parse(response.text).code], [403, "account_required"]);
  assert.equal(shop.work.count, 0);
  await shop.close();
});

test("429: after 60 rejected payments in a minute, no further payment from the IP address is checked", async () => {
  const shop = await startShop(await embeddedDatabase());
  const payer = await chain.newPayer(LISTING);
  const path = `${shop.url}/v1/test/after`;
  const requirements = await fetchRequirements(path);
  const { header: valid } = await signPayment(payer, chain, requirements);
  const { header: badSignature } = await signPayment(payer, chain, requirements, { domain: { chainId: 1 } });
  const { header: underpaid } = await signPayment(payer, chain, requirements, { authorization: { value: "1" } });
  const { header: unfunded } = await signPayment(await chain.newPayer(0n), chain, requirements);
  for (const header of [badSignature, underpaid, unfunded])
    for (let attempt = 0; attempt < 20; attempt++) assert.equal((await callWith(path, header)).status, 402);
  const { status, headers, text } = await callWith(path, valid);
  assert.deepEqual([status, JSON.parse(text).code], [429, "rate_limited"]);
  assert.ok(Number(headers.get("retry-after")) > 0);
  assert.deepEqual([shop.work.count, await shop.states()], [0, ["rejected"]]);
  await shop.close();
});

test("400: a malformed payment header is rejected before the handler runs", async () => {
  const shop = await startShop(await embeddedDatabase());
  const payer = await chain.newPayer(LISTING);
  const { header } = await signPayment(payer, chain, await fetchRequirements(`${shop.url}/v1/test/after`));
  const valid = decode(header);
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
  const { authorization } = valid.payload;
  const malformed = [
    "x",
    "{}",
    "====",
    "bnVsbA==",
    encoded([]),
    encoded({}),
    "A".repeat(8_193),
    encoded({ ...valid, payload: { ...valid.payload, signature: "0x" } }),
    ...["1e4", "10000.0", "-1", "0x2710", 10_000, null].map((value) =>
      encoded({ ...valid, payload: { ...valid.payload, authorization: { ...authorization, value } } }),
    ),
    `${header}, ${header}`,
    header.slice(0, -4),
  ];
  for (const value of malformed) {
    for (const name of ["payment-signature", "x-payment"]) {
      const response = await fetch(`${shop.url}/v1/test/after`, { headers: { [name]: value } });
      const text = await response.text();
      assert.deepEqual([response.status, JSON.parse(text).code], [400, "malformed_payment"], value.slice(0, 80));
    }
  }
  assert.deepEqual([shop.work.count, await shop.states()], [0, []]);
  await shop.close();
});

test("logs contain no payer, signature or nonce; responses contain no signature; the table stores only signatures of unknown payments", async () => {
  const database = await embeddedDatabase();
  const { log, lines } = recordingLog();
  const deadlines = { verifyMs: 1_000, settleMs: 1_000 };
  const shop = await startShop(database, { log, hasRpc: false, deadlines });
  const payer = await chain.newPayer(LISTING * 9n);
  const requirements = await fetchRequirements(`${shop.url}/v1/test/after`);
  const secrets = [payer.address.toLowerCase(), SECRET];
  const signatures: string[] = [];
  const received: unknown[] = [];
  for (const step of ["verify", "settle", null] as const) {
    facilitator.reset();
    if (step !== null) facilitator.faults[step] = { kind: "response", status: 200, body: `{"x":"${payer.address}"}` };
    const { header, nonce } = await signPayment(payer, chain, requirements);
    const { signature } = decode(header).payload;
    secrets.push(nonce, header, signature);
    signatures.push(signature);
    const { text, headers } = await callWith(`${shop.url}/v1/test/after`, header);
    received.push(text, ...[...headers.values()].flatMap((value) => [value, Buffer.from(value, "base64").toString()]));
  }
  const logged = JSON.stringify(lines).toLowerCase();
  assert.match(logged, /pay-[0-9a-f]{32}/);
  for (const secret of secrets) assert.ok(!logged.includes(secret.toLowerCase()), secret);
  // The signature of the unknown payment is needed for retries.
  const rows = await database.query<{ state: string; row: string }>(
    "select state, payments::text as row from payments",
  );
  const withSignature = rows.filter(({ row }) => signatures.some((signature) => row.includes(signature.slice(2))));
  assert.deepEqual([rows.length, withSignature.map(({ state }) => state)], [3, ["unknown"]]);
  for (const signature of signatures) assert.ok(!JSON.stringify(received).includes(signature.slice(2)));
  await shop.close();
});

test("402: a payment that does not match the requirements exactly is rejected and not charged", async (t) => {
  const shop = await startShop(await embeddedDatabase());
  const before = { ...facilitator.calls };
  const payer = await chain.newPayer(100_000_000n);
  const poor = await chain.newPayer(LISTING - 1n);
  const other = await chain.newPayer(0n);
  const otherToken = await chain.deployToken();
  const now = Math.floor(Date.now() / 1_000);
  const cases: readonly [string, PaymentChanges, RegExp][] = [
    ["underpaid by one unit", { authorization: { value: "9999" } }, /value_mismatch/],
    ["underpaid, with altered requirements", { accepted: { amount: "9999" } }, /invalid_payment_requirements/],
    ["overpaid by one unit", { authorization: { value: "10001" } }, /value_mismatch/],
    ["a wrong network", { accepted: { network: "eip155:8453" }, domain: { chainId: 8_453 } }, /invalid_network/],
    ["signed for another network", { domain: { chainId: 8_453 } }, /signature/],
    ["a wrong scheme", { accepted: { scheme: "upto" } }, /unsupported_scheme/],
    ["another payee", { authorization: { to: other.address } }, /recipient_mismatch/],
    [
      "a wrong payee, with altered requirements",
      { accepted: { payTo: other.address } },
      /invalid_payment_requirements/,
    ],
    ["another token", { accepted: { asset: otherToken } }, /invalid_payment_requirements/],
    ["signed for another token", { domain: { verifyingContract: otherToken } }, /signature/],
    ["another token's name", { accepted: { extra: { name: "USDC", version: "2" } } }, /invalid_payment_requirements/],
    ["a longer timeout than required", { accepted: { maxTimeoutSeconds: 9_999 } }, /invalid_payment_requirements/],
    ["expired", { authorization: { validBefore: String(now - 1) } }, /valid_before/],
    [
      "an authorization that expires before it can be settled",
      { authorization: { validBefore: String(now + 60) } },
      /valid_before/,
    ],
    [
      "an authorization that is valid for more than a day",
      { authorization: { validBefore: String(now + 100_000) } },
      /valid_before/,
    ],
    ["an authorization that is not yet valid", { authorization: { validAfter: String(now + 100) } }, /valid_after/],
    ["signed by another account", { signer: other }, /signature/],
  ];
  const path = "/v1/test/after";
  const requirements = await fetchRequirements(`${shop.url}${path}`);
  for (const [name, changes, reason] of cases) {
    const { header } = await signPayment(payer, chain, requirements, changes);
    await t.test(name, () => assertRejected(shop, path, header, 402, reason));
  }
  assert.equal(facilitator.calls.verify, before.verify, "rejected without a request to the facilitator");
  const { header: unfunded } = await signPayment(poor, chain, requirements);
  await t.test("a balance that is too low by one unit", () =>
    assertRejected(shop, path, unfunded, 402, /insufficient|simulation_failed/),
  );
  const { header: cheap } = await signPayment(payer, chain, requirements);
  await t.test("a payment of a cheaper route", () => assertRejected(shop, "/v1/test/deep", cheap, 402, /requirements/));
  assert.equal(facilitator.calls.settle, before.settle, "rejected without a settle request");
  await shop.close();
});

test("no response is delivered if the facilitator fails, times out or returns false data", async (t) => {
  const shop = await startShop(await embeddedDatabase(), {
    hasRpc: false,
    deadlines: { verifyMs: 200, settleMs: 200 },
  });
  const payer = await chain.newPayer(1_000_000n);
  const other = await chain.newPayer(0n);
  const path = "/v1/test/after";
  const requirements = await fetchRequirements(`${shop.url}${path}`);
  const ok = (value: object) => ({ kind: "response", status: 200, body: JSON.stringify(value) }) as const;
  const falseSuccess = {
    success: true,
    transaction: `0x${"1".repeat(64)}`,
    network: chain.network,
    payer: payer.address,
  };
  const cases = [
    ["500", { kind: "response", status: 500, body: "{}" }],
    ["an invalid body", { kind: "response", status: 200, body: "<html>" }],
    ["a timeout", { kind: "timeout" }],
    ["an oversized response", { kind: "response", status: 200, body: `{"isValid":true,"x":"${"x".repeat(70_000)}"}` }],
    ["another payer", ok({ ...falseSuccess, isValid: true, payer: other.address })],
    ["a success without a transaction", ok({ success: true, transaction: "", network: chain.network })],
    ["a success on another network", ok({ ...falseSuccess, network: "eip155:1" })],
    ["a success with another amount", ok({ ...falseSuccess, amount: "1" })],
  ] as const;
  for (const [name, fault] of cases) {
    await t.test(`settlement: ${name}`, async () => {
      const { header } = await signPayment(payer, chain, requirements);
      facilitator.reset();
      facilitator.faults.settle = fault;
      const response = await callWith(`${shop.url}${path}`, header);
      assert.deepEqual([response.status, JSON.parse(response.text).code], [503, "settlement_unknown"]);
      assert.ok(!response.text.includes(SECRET) && response.headers.get("etag") === null);
      assert.ok(Number(response.headers.get("retry-after")) > 0);
    });
    if (name.startsWith("a success")) continue;
    await t.test(`verification: ${name}`, async () => {
      const { header } = await signPayment(payer, chain, requirements);
      facilitator.reset();
      facilitator.faults.verify = fault;
      const runsBefore = shop.work.count;
      const response = await callWith(`${shop.url}${path}`, header);
      assert.deepEqual([response.status, JSON.parse(response.text).code], [503, "payment_unavailable"]);
      assert.equal(shop.work.count, runsBefore, "the handler runs only after verification");
      facilitator.reset();
      assert.equal((await callWith(`${shop.url}${path}`, header)).status, 200, "the payment can still be used");
    });
  }
  await t.test("the facilitator accepts an invalid signature", async () => {
    facilitator.faults.verify = ok({ isValid: true, payer: payer.address });
    facilitator.faults.settle = ok(falseSuccess);
    const { header } = await signPayment(payer, chain, requirements, { signer: other });
    await assertRejected(shop, path, header, 402, /signature/);
  });
  await t.test("the facilitator returns one transaction for two payments", async () => {
    facilitator.reset();
    facilitator.faults.settle = ok({ ...falseSuccess, transaction: `0x${"2".repeat(64)}` });
    const headers = [await signPayment(payer, chain, requirements), await signPayment(payer, chain, requirements)];
    const statuses = [];
    for (const { header } of headers) statuses.push((await callWith(`${shop.url}${path}`, header)).status);
    assert.deepEqual(statuses, [200, 503]);
  });
  await shop.close();
});
