import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { parseSignature, serializeSignature } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { startLocalChain } from "../../../../test/support/evm/local-chain.ts";
import { signPayment, TRANSFER_TYPES } from "../../../../test/support/evm/payer.ts";
import { createUndiciHttp } from "../../../adapters/network/undici-http.ts";
import { systemClock } from "../../../adapters/system/system-clock.ts";
import { createChainReader } from "./chain.ts";
import type { Hex, Payment, PaymentAsset } from "./model.ts";
import { createRouteRequirements } from "./requirements.ts";
import { parsePaymentHeader } from "./schema.ts";
import { createSignatureCheck, findInvalidChecksum } from "./validate-payment.ts";

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const chain = await startLocalChain();
const http = createUndiciHttp(systemClock);
after(async () => {
  await http.close();
  await chain.close();
});
const payTo = (await chain.newPayer(0n)).address;
const payer = await chain.newPayer(1_000_000n);
const { network, chainId, token, tokenName: name, tokenVersion: version } = chain;
const asset: PaymentAsset = { network, chainId, asset: token, name, version, payTo };
const reader = createChainReader({ http, url: chain.rpcUrl, asset });

async function sign(changes: Parameters<typeof signPayment>[3] = {}): Promise<Payment> {
  const accepts = [createRouteRequirements(asset, { tier: "LISTING", settles: "after" })];
  const { header } = await signPayment(payer, chain, { accepts } as never, changes);
  return parsePaymentHeader(header);
}

/** Arguments of the token's `transferWithAuthorization`. */
const argumentsOf = ({ signature, authorization: { from, to, value, validAfter, validBefore, nonce } }: Payment) =>
  [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature] as const;

const transfer = (payment: Payment) => ({ functionName: "transferWithAuthorization", args: argumentsOf(payment) });
const submit = (payment: Payment) => chain.submit("transferWithAuthorization", argumentsOf(payment));

test("finds a transfer to the payee and its transaction, regardless of the submitter", async () => {
  const payment = await sign();
  assert.deepEqual(await reader.find(payment.authorization), { kind: "open" });
  const transaction = await chain.submitTogether([transfer(payment)]);
  assert.deepEqual(await reader.find(payment.authorization), { kind: "transferred", transaction });
});

test("reports a nonce used for another payee as void, even if the same transaction contains a matching transfer", async () => {
  for (const isFirst of [true, false]) {
    const elsewhere = await sign({ authorization: { to: payer.address } });
    const paying = await sign();
    await chain.submitTogether((isFirst ? [elsewhere, paying] : [paying, elsewhere]).map(transfer));
    const misreported = { ...elsewhere.authorization, to: paying.authorization.to };
    assert.deepEqual(await reader.find(misreported), { kind: "void" });
    assert.equal((await reader.find(paying.authorization)).kind, "transferred");
  }
});

test("reports a cancelled authorization as void", async () => {
  const { authorization } = await sign();
  const signature = await payer.signTypedData({
    domain: { name, version, chainId, verifyingContract: token },
    types: {
      CancelAuthorization: [
        { name: "authorizer", type: "address" },
        { name: "nonce", type: "bytes32" },
      ],
    },
    primaryType: "CancelAuthorization",
    message: { authorizer: payer.address, nonce: authorization.nonce },
  });
  const { r, s, v } = parseSignature(signature);
  await chain.submit("cancelAuthorization", [payer.address, authorization.nonce, Number(v), r, s]);
  assert.deepEqual(await reader.find(authorization), { kind: "void" });
});

test("reports unknown for a wrong chain, an unavailable endpoint and invalid responses", async () => {
  const { authorization } = await sign();
  const others = [
    createChainReader({ http, url: chain.rpcUrl, asset: { ...asset, chainId: 8_453 } }),
    createChainReader({ http, url: "http://127.0.0.1:9", asset }),
    createChainReader({ http, url: chain.rpcUrl, asset: { ...asset, asset: payTo } }),
  ];
  for (const other of others) assert.deepEqual(await other.find(authorization), { kind: "unknown" });
});

test("the signature check accepts exactly the signatures that the token accepts", async () => {
  const isSignedByPayer = await createSignatureCheck(asset);
  const valid = await sign();
  const { r, s, v = 27n } = parseSignature(valid.signature);
  const encodeSignature = (parts: { s?: bigint; v: bigint }) =>
    serializeSignature({ r, s: `0x${(parts.s ?? BigInt(s)).toString(16).padStart(64, "0")}`, v: parts.v });
  const malleated = encodeSignature({ s: CURVE_ORDER - BigInt(s), v: v === 27n ? 28n : 27n });
  const cases: readonly [string, Payment][] = [
    ["a different value", { ...valid, authorization: { ...valid.authorization, value: "10001" } }],
    ["a different nonce", { ...valid, authorization: { ...valid.authorization, nonce: `0x${"7".repeat(64)}` } }],
    ["another payer", { ...valid, authorization: { ...valid.authorization, from: payTo.toLowerCase() as Hex } }],
    ["a different domain name", await sign({ domain: { name: "USDC" } })],
    ["a different domain version", await sign({ domain: { version: "1" } })],
    ["s in the upper half of the order", { ...valid, signature: malleated }],
    ["the other parity", { ...valid, signature: encodeSignature({ v: v === 27n ? 28n : 27n }) }],
    ["parity as 0 or 1", { ...valid, signature: `${valid.signature.slice(0, 130)}0${v - 27n}` as Hex }],
    ["not a point of the curve", { ...valid, signature: `0x${"f".repeat(64)}${"1".repeat(64)}1b` }],
    ["zeros", { ...valid, signature: `0x${"0".repeat(128)}1b` }],
  ];
  for (const [name, payment] of cases) {
    assert.equal(isSignedByPayer(payment), false, name);
    await assert.rejects(submit(payment), /revert|Signature|signature|Execution/, name);
  }
  assert.equal(isSignedByPayer(valid), true);
  await submit(valid);
});

test("the signature check agrees with viem for every domain, amount, time and nonce", async () => {
  const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
  const text = fc.string({ unit: "binary", minLength: 1 });
  const account = privateKeyToAccount(generatePrivateKey());
  const from = account.address.toLowerCase() as Hex;
  const to = payTo.toLowerCase() as Hex;
  const values = fc.tuple(fc.tuple(text, text), fc.tuple(uint256, uint256, uint256), fc.bigInt({ min: 1n, max: 255n }));
  const property = fc.asyncProperty(values, async ([[name, version], [value, validAfter, validBefore], nonceByte]) => {
    const other = { ...asset, name, version };
    const nonce: Hex = `0x${nonceByte.toString(16).padStart(64, "0")}`;
    const message = { from, to, value, validAfter, validBefore, nonce };
    const domain = { name, version, chainId, verifyingContract: token };
    const primaryType = "TransferWithAuthorization";
    const signature = await account.signTypedData({ domain, types: TRANSFER_TYPES, primaryType, message });
    const numbers = { value: `${value}`, validAfter: `${validAfter}`, validBefore: `${validBefore}` };
    const authorization = { from, to, nonce, ...numbers };
    const isSignedByPayer = await createSignatureCheck(other);
    assert.equal(isSignedByPayer({ signature, authorization }), true);
    assert.equal(isSignedByPayer({ signature, authorization: { ...authorization, value: `${value ^ 1n}` } }), false);
  });
  await fc.assert(property, { numRuns: 30 });
});

test("finds a configured address with a wrong checksum", async () => {
  const valid = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
  const usdc = { ...asset, asset: valid, payTo: valid } as const;
  assert.equal(await findInvalidChecksum(usdc), null);
  assert.equal(await findInvalidChecksum({ ...usdc, payTo: valid.toLowerCase() as Hex }), null);
  const invalid = valid.replace("8f4c7", "8f4C7") as Hex;
  for (const [name, setting] of Object.entries({ payTo: "PARALLAX_X402_PAY_TO", asset: "PARALLAX_X402_ASSET" }))
    assert.deepEqual(await findInvalidChecksum({ ...usdc, [name]: invalid }), { setting, address: invalid });
});

test("reports an expired unused authorization as void after the safety margin", async () => {
  const { authorization } = await sign();
  await chain.advance(330);
  assert.deepEqual(await reader.find(authorization), { kind: "open" });
  await chain.advance(60);
  assert.deepEqual(await reader.find(authorization), { kind: "void" });
});
