import assert from "node:assert/strict";
import { test } from "node:test";
import type { FastifyRequest } from "fastify";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { quietLog } from "../../../../test/support/quiet-log.ts";
import { METERING } from "../../../domain/metering.ts";
import { createAddressLimits } from "../metering/address-limits.ts";
import { createPaymentGate } from "./payment-gate.ts";
import type { PaymentService } from "./service.ts";

const PAYMENT = {
  x402Version: 1,
  scheme: "exact",
  network: "base",
  payload: {
    signature: `0x${"1".repeat(130)}`,
    authorization: {
      from: `0x${"a".repeat(40)}`,
      to: `0x${"b".repeat(40)}`,
      value: "1",
      validAfter: "0",
      validBefore: "1",
      nonce: `0x${"0".repeat(64)}`,
    },
  },
};

test("429: each payment counts as an anonymous request; above the limit, no signature is checked", async () => {
  let checks = 0;
  const service = {
    createRouteRequirements: () => ({}),
    async check() {
      checks += 1;
    },
  } as unknown as PaymentService;
  const clock = new FakeClock();
  const meter = { takeMinute: () => assert.fail("a payment does not count as a 401 response") };
  const addresses = createAddressLimits({ clock, random: { uniform: () => 0, bytes: () => assert.fail() }, meter });
  const gate = createPaymentGate({ service, publicUrl: "https://api.example.org", log: quietLog, addresses });
  const headers = { "x-payment": Buffer.from(JSON.stringify(PAYMENT)).toString("base64") };
  const request = {
    headers,
    ip: "192.0.2.1",
    routeConfig: { metering: METERING.LISTING },
  } as unknown as FastifyRequest;
  for (let count = 0; count < 600; count++) assert.equal((await gate.identify(request))?.kind, "payer");
  await assert.rejects(gate.identify(request), { code: "rate_limited" });
  assert.equal(checks, 600);
  await clock.advance(60_000);
  assert.equal((await gate.identify(request))?.kind, "payer");
});
