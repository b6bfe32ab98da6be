import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeliveryFailure } from "../../../ports/webhook-out.ts";
import { presentTest } from "./present.ts";

const problemOf = (failure: DeliveryFailure) =>
  presentTest({ answer: { kind: "failed", failure }, latencyMs: 4 }).problem;

test("a test of a webhook says whether a connection, a response or valid HTTP was missing, or nothing was sent", () => {
  assert.match(String(problemOf("timeout")), /within 10 seconds/);
  assert.match(String(problemOf("bad_response")), /not valid HTTP/);
  assert.match(String(problemOf("unavailable")), /^Nothing was sent/);
  assert.match(String(problemOf("connection_failed")), /^No connection/);
});

test("a test of a webhook does not tell an address that is not public from one that refuses connections", () => {
  assert.equal(problemOf("forbidden_address"), problemOf("connection_failed"));
});
