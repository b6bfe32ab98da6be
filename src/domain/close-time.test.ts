import assert from "node:assert/strict";
import { test } from "node:test";
import { acceptsOrders, validCloseTime, validResolutionTime } from "./close-time.ts";
import { MARKET_STATUSES } from "./market.ts";

const NOW = 1_000;

test("a close time that is not after now is unknown until trading has ended", () => {
  for (const status of MARKET_STATUSES) {
    const isOver = status !== "active" && status !== "pending";
    assert.equal(validCloseTime({ status, closeAt: null }, NOW), null);
    assert.equal(validCloseTime({ status, closeAt: NOW + 1 }, NOW), NOW + 1);
    assert.equal(validCloseTime({ status, closeAt: NOW }, NOW), isOver ? NOW : null);
    assert.equal(validCloseTime({ status, closeAt: NOW - 1 }, NOW), isOver ? NOW - 1 : null);
  }
});

test("a close time in the future replaces an expected result time in the past", () => {
  const at = (closeAt: number | null, expectedResolutionAt: number | null) =>
    validResolutionTime({ status: "active", closeAt, expectedResolutionAt }, NOW);
  assert.equal(at(NOW + 5, NOW + 9), NOW + 9);
  assert.equal(at(NOW - 5, NOW + 9), NOW + 9);
  assert.equal(at(NOW + 5, NOW - 9), NOW + 5);
  assert.equal(at(NOW - 5, NOW - 9), null);
  assert.equal(at(NOW + 5, null), NOW + 5);
  assert.equal(validResolutionTime({ status: "closed", closeAt: 5, expectedResolutionAt: 9 }, NOW), 9);
});

test("after its close, a market accepts orders only if the venue has confirmed the market since the close", () => {
  const market = { status: "active", paused: false, closeAt: NOW - 100 } as const;
  assert.equal(acceptsOrders(market, NOW - 101, NOW), false);
  assert.equal(acceptsOrders(market, NOW - 100, NOW), true);
  assert.equal(acceptsOrders({ ...market, closeAt: NOW + 1 }, 0, NOW), true);
  assert.equal(acceptsOrders({ ...market, closeAt: null }, 0, NOW), true);
  assert.equal(acceptsOrders({ ...market, paused: true }, NOW, NOW), false);
  assert.equal(acceptsOrders({ ...market, status: "closed" }, NOW, NOW), false);
});
