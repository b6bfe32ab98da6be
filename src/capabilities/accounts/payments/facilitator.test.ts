import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AFTER, ASSET } from "../../../../test/support/customers/payment-ledger.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { ScriptedHttp, type ScriptedResponse } from "../../../../test/support/venues/scripted-http.ts";
import { CONNECTIONS_PER_HOST_MAX } from "../../../ports/http-out.ts";
import { createFacilitator } from "./facilitator.ts";
import type { SignedAuthorization } from "./model.ts";
import { createRouteRequirements } from "./requirements.ts";

const REQUIREMENTS = createRouteRequirements(ASSET, AFTER);
const SIGNED: SignedAuthorization = {
  signature: `0x${"1".repeat(130)}`,
  authorization: {
    from: `0x${"a".repeat(40)}`,
    to: ASSET.payTo,
    value: "10000",
    validAfter: "0",
    validBefore: "1",
    nonce: `0x${"0".repeat(64)}`,
  },
};
const TRANSACTION = `0x${"4".repeat(64)}`;
const SETTLED = { success: true, transaction: TRANSACTION, network: ASSET.network, payer: SIGNED.authorization.from };
const encoded = (value: object) => ({ body: JSON.stringify(value) });

function openFacilitator(afterMs: number) {
  const clock = new FakeClock();
  const http = new ScriptedHttp(clock, () => ({ ...encoded(SETTLED), afterMs }));
  return { clock, http, facilitator: createFacilitator({ http, url: "https://facilitator.example", token: null }) };
}

test("concurrent requests are limited to the number of connections, and the wait for a connection does not count towards the timeout", async () => {
  const { clock, http, facilitator } = openFacilitator(20_000);
  const settlements = Array.from({ length: 2 * CONNECTIONS_PER_HOST_MAX }, () =>
    facilitator.settle(SIGNED, REQUIREMENTS),
  );
  await clock.advance(1_000);
  assert.equal(http.requests.length, CONNECTIONS_PER_HOST_MAX);
  assert.equal(
    await facilitator.verify(SIGNED, REQUIREMENTS),
    null,
    "verification fails fast while all connections are in use",
  );
  await clock.advance(20_000);
  await clock.advance(20_000);
  // If the timeout started with the call, the last settlements would exceed 30 s.
  for (const outcome of await Promise.all(settlements)) assert.equal(outcome.kind, "settled");
  assert.equal(http.inFlightMax, CONNECTIONS_PER_HOST_MAX);
});

test("settlements aborted while waiting for a connection are never sent and do not block other settlements", async () => {
  const { clock, http, facilitator } = openFacilitator(20_000);
  const first = Array.from({ length: CONNECTIONS_PER_HOST_MAX }, () => facilitator.settle(SIGNED, REQUIREMENTS));
  const controller = new AbortController();
  const waiting = first.map(() => facilitator.settle(SIGNED, REQUIREMENTS, controller.signal));
  const last = facilitator.settle(SIGNED, REQUIREMENTS);
  await clock.advance(1_000);
  controller.abort();
  for (const outcome of await Promise.all(waiting)) assert.equal(outcome.kind, "unknown");
  await clock.advance(20_000);
  await clock.advance(20_000);
  assert.equal((await last).kind, "settled");
  await Promise.all(first);
  assert.equal(http.requests.length, CONNECTIONS_PER_HOST_MAX + 1);
});

/** Generated responses that do not confirm the settlement of `SIGNED`. */
const faultyResponses = fc.oneof(
  fc.constant(new Error("the connection was reset")),
  fc.record({ status: fc.integer({ min: 200, max: 599 }), body: fc.string({ maxLength: 100 }) }),
  fc
    .integer({ min: 0, max: JSON.stringify(SETTLED).length - 1 })
    .map((length) => ({ body: JSON.stringify(SETTLED).slice(0, length) })),
  fc.jsonValue().map((value) => ({ body: JSON.stringify(value) })),
  fc.constantFrom(undefined, null, false, 0, 1, "true", "yes").map((success) => encoded({ ...SETTLED, success })),
  fc
    .constantFrom(undefined, null, "", "0x", TRANSACTION.slice(0, -1), `${TRANSACTION}0`, TRANSACTION.slice(2), 7)
    .map((transaction) => encoded({ ...SETTLED, transaction })),
  fc.constantFrom("", "eip155:1", "base", 84_532).map((network) => encoded({ ...SETTLED, network })),
  fc.constantFrom("", "0", "9999", "10001", 10_000).map((amount) => encoded({ ...SETTLED, amount })),
  fc.constantFrom("", ASSET.payTo, "somebody", 1).map((payer) => encoded({ ...SETTLED, payer })),
  fc.string({ maxLength: 40 }).map((errorReason) => encoded({ ...SETTLED, success: false, errorReason })),
);

test("reports unknown for 10,000 generated faulty responses to a settlement", async () => {
  const clock = new FakeClock();
  let response: ScriptedResponse | Error = encoded(SETTLED);
  const http = new ScriptedHttp(clock, () => response);
  const facilitator = createFacilitator({ http, url: "https://facilitator.example", token: null });
  assert.deepEqual(await facilitator.settle(SIGNED, REQUIREMENTS), { kind: "settled", transaction: TRANSACTION });
  await fc.assert(
    fc.asyncProperty(faultyResponses, async (faulty) => {
      response = faulty;
      assert.equal((await facilitator.settle(SIGNED, REQUIREMENTS)).kind, "unknown");
    }),
    { numRuns: 10_000 },
  );
});
