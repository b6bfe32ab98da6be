import assert from "node:assert/strict";
import { setImmediate as nextIteration } from "node:timers/promises";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { Database } from "../../../src/ports/database.ts";
import { atFileEnd, atProcessEnd } from "../file-end.ts";
import { startFacilitator } from "./facilitator.ts";
import { startLocalChain } from "./local-chain.ts";
import { type PaidService, SECRET, startPaidService } from "./paid-service.ts";
import { callWith, decode, signPayment } from "./payer.ts";

/** Price of a call to a listing endpoint, in atomic units of the token. */
export const LISTING = 10_000n;
export const chain = await startLocalChain();
export const facilitator = await startFacilitator(chain);
atProcessEnd(() => chain.close());
atProcessEnd(() => facilitator.close());

export type Shop = Awaited<ReturnType<typeof startShop>>;

/** Starts services with a new payee, whose balance therefore equals the payments of this test. */
export async function startShop(
  database: Database,
  options: Partial<Parameters<typeof startPaidService>[0]> = {},
  nodes = 1,
) {
  facilitator.reset();
  await database.query("delete from payments");
  const payTo = privateKeyToAccount(generatePrivateKey()).address;
  const services: PaidService[] = [];
  const addNode = async () => {
    const service = await startPaidService({ database, chain, facilitator, payTo, ...options });
    services.push(service);
    atFileEnd(() => service.close());
    return service;
  };
  const firstNode = await addNode();
  while (services.length < nodes) await addNode();
  return {
    services,
    addNode,
    payTo,
    url: firstNode.url,
    work: firstNode.work,
    earned: () => chain.balanceOf(payTo),
    transfers: () => chain.transfersTo(payTo),
    states: async () => {
      const rows = await database.query<{ state: string }>("select state from payments order by payment_id");
      return rows.map(({ state }) => state);
    },
    async close() {
      for (const service of services) await service.close();
    },
  };
}

/** Asserts that the payment is rejected and causes no content, handler run or transfer. */
export async function assertRejected(
  shop: Shop,
  path: string,
  header: string,
  status: number,
  reason: RegExp,
): Promise<void> {
  const countsBefore = { work: shop.work.count, transfers: await shop.transfers() };
  const response = await callWith(`${shop.url}${path}`, header);
  const texts = `${response.text} ${decode(response.headers.get("payment-required") ?? "e30=").error ?? ""}`;
  assert.equal(response.status, status, texts);
  assert.match(texts, reason);
  assert.ok(!response.text.includes(SECRET));
  assert.equal(response.headers.get("etag"), null);
  assert.deepEqual({ work: shop.work.count, transfers: await shop.transfers() }, countsBefore);
}

/** Sends a paid call and calls `duringWork` while the handler of the call is running. */
export async function callDuring(shop: Shop, header: string, duringWork: () => Promise<void>) {
  const hold = Promise.withResolvers<void>();
  shop.work.hold = hold.promise;
  const response = callWith(`${shop.url}/v1/test/after`, header);
  while (shop.work.count === 0) await nextIteration();
  await duringWork();
  hold.resolve();
  return response;
}

/** Uses the payment's nonce for a transfer to another payee. */
export async function spendElsewhere(payer: Awaited<ReturnType<typeof chain.newPayer>>, header: string): Promise<void> {
  const { nonce, validAfter, validBefore } = decode(header).payload.authorization;
  const otherPayee = privateKeyToAccount(generatePrivateKey()).address;
  const requirements = { accepts: [{ ...decode(header).accepted, payTo: otherPayee }] } as never;
  const { header: otherHeader } = await signPayment(payer, chain, requirements, {
    nonce,
    authorization: { validAfter, validBefore },
  });
  const { signature, authorization } = decode(otherHeader).payload;
  await chain.submit("transferWithAuthorization", [
    authorization.from,
    authorization.to,
    BigInt(authorization.value),
    BigInt(validAfter),
    BigInt(validBefore),
    nonce,
    signature,
  ]);
}
