import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeliveryFailure } from "../../../ports/webhook-out.ts";
import { presentTest } from "./present.ts";

const problemOf = (failure: DeliveryFailure) =>
  presentTest({ answer: { kind: "failed", failure }, latencyMs: 4 }).problem;

test("a failed webhook test reports no response in time, invalid HTTP, no request sent, or no connection", () => {
  assert.match(String(problemOf("timeout")), /within 10 seconds/);
  assert.match(String(problemOf("bad_response")), /not valid HTTP/);
  assert.match(String(problemOf("unavailable")), /^Nothing was sent/);
  assert.match(String(problemOf("connection_failed")), /^No connection/);
});

test("a webhook test has the same result for a non-public address as for an address that refuses connections", () => {
  assert.equal(problemOf("forbidden_address"), problemOf("connection_failed"));
});
