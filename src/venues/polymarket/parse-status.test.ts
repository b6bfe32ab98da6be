import assert from "node:assert/strict";
import { test } from "node:test";
import type { ParsedResolution } from "./parse-resolution.ts";
import { parseState } from "./parse-status.ts";
import type { GammaMarket } from "./wire.ts";

const NOW = Date.UTC(2026, 10, 21);
const resolution = (state: ParsedResolution["state"], kind: "yes" | "no" | null = null): ParsedResolution => ({
  state,
  outcome: kind === null ? null : { kind },
  resolvedAt: state === "settled" ? NOW - 1_000 : null,
});

interface Case {
  /** `umaResolutionStatus`. */
  readonly gamma?: string;
  readonly history?: string;
  readonly feed?: ParsedResolution;
  readonly streamed?: ParsedResolution;
  /** Flags of the row. By default the market trades. */
  readonly row?: Partial<GammaMarket>;
}

const CLOSED = { closed: true, acceptingOrders: false };
const PINNED = { ...CLOSED, outcomePrices: '["1", "0"]' };
const HALTED = { acceptingOrders: false };

function read({ gamma, history, feed, streamed, row = {} }: Case): string {
  const market: GammaMarket = {
    id: "1",
    question: "Will it rain?",
    active: true,
    closed: false,
    acceptingOrders: true,
    outcomePrices: '["0.6", "0.4"]',
    startDate: "2026-01-01T00:00:00Z",
    endDate: "2026-11-01T00:00:00Z",
    umaResolutionStatus: gamma,
    umaResolutionStatuses: history,
    ...row,
  };
  const { status, outcome, resolvedAt } = parseState(market, { feed: feed ?? null, streamed: streamed ?? null }, NOW);
  if (status !== "finalized") assert.deepEqual([outcome, resolvedAt], [null, null], "only a final market has a result");
  return outcome === null ? status : `${status} ${outcome.kind}`;
}

const expectAll = (cases: readonly (readonly [Case, string])[]) => {
  for (const [given, expected] of cases) assert.equal(read(given), expected, JSON.stringify(given));
};

test("a market is final once the oracle is settled, with the oracle's result, regardless of its flags", () => {
  for (const row of [{}, HALTED, CLOSED, { ...PINNED, outcomePrices: '["0", "1"]' }, { active: false }])
    expectAll([
      [{ row, feed: resolution("settled", "yes") }, "finalized yes"],
      [{ row, feed: resolution("settled", "no"), gamma: "disputed" }, "finalized no"],
      [{ row, feed: resolution("settled", "no"), streamed: resolution("settled", "yes") }, "finalized no"],
      [{ row, streamed: resolution("settled", "yes") }, "finalized yes"],
    ]);
  expectAll([
    [{ row: PINNED, gamma: "resolved" }, "finalized yes"],
    [{ row: PINNED, gamma: "settled" }, "finalized yes"],
    [{ row: PINNED, history: '["proposed", "resolved"]' }, "finalized yes"],
    [{ row: CLOSED, gamma: "resolved" }, "finalized"],
    [{ row: PINNED, gamma: "resolved", feed: resolution("unavailable") }, "finalized yes"],
    [{ row: PINNED, feed: resolution("settled") }, "finalized yes"],
  ]);
});

test("final prices of a closed market are not a result while the oracle is contested, proposed or open", () => {
  const states = ["proposed", "disputed", "requested", "posed", "arbitration", "a new status"];
  for (const gamma of states) {
    const isContestable = !["requested", "posed", "a new status"].includes(gamma);
    expectAll([
      [{ row: PINNED, gamma }, isContestable ? "determined" : "closed"],
      [{ row: { ...PINNED, acceptingOrders: true }, gamma }, isContestable ? "determined" : "closed"],
    ]);
  }
  expectAll([
    [{ row: PINNED, feed: resolution("contested") }, "determined"],
    [{ row: PINNED, feed: resolution("proposed") }, "determined"],
    [{ row: PINNED, feed: resolution("open") }, "closed"],
    [{ row: PINNED, history: '["proposed", "disputed"]' }, "determined"],
    [{ row: PINNED, feed: resolution("unavailable") }, "closed"],
    [{ row: { ...PINNED, outcomePrices: '["0.5", "0.5"]' }, gamma: "disputed" }, "determined"],
  ]);
});

test("a row of the feed takes precedence over the oracle status of the market row", () => {
  expectAll([
    [{ row: PINNED, gamma: "resolved", feed: resolution("contested") }, "determined"],
    [{ row: PINNED, gamma: "resolved", feed: resolution("proposed") }, "determined"],
    [{ row: PINNED, gamma: "disputed", feed: resolution("unavailable") }, "determined"],
  ]);
});

test("the stream's settlement takes precedence over an outdated feed, but not over a dispute", () => {
  const streamed = resolution("settled", "yes");
  expectAll([
    [{ streamed, feed: resolution("open") }, "finalized yes"],
    [{ streamed, feed: resolution("proposed") }, "finalized yes"],
    [{ streamed, feed: resolution("unavailable") }, "finalized yes"],
    [{ streamed, feed: resolution("contested"), row: PINNED }, "determined"],
    [{ streamed, feed: resolution("contested") }, "active"],
  ]);
});

test("a proposal or a dispute does not end trading; without orders the market is determined", () => {
  for (const gamma of ["proposed", "disputed"])
    expectAll([
      [{ gamma }, "active"],
      [{ gamma, row: HALTED }, "determined"],
      [{ gamma, row: { acceptingOrders: undefined } }, "determined"],
      [{ gamma, row: CLOSED }, "determined"],
      [{ gamma, row: { archived: true } }, "determined"],
    ]);
  expectAll([
    [{ feed: resolution("proposed") }, "active"],
    [{ feed: resolution("contested"), row: HALTED }, "determined"],
  ]);
});

test("a market that the oracle has settled before the venue closes it is not active", () => {
  expectAll([
    [{ gamma: "resolved" }, "determined"],
    [{ gamma: "resolved", row: HALTED }, "determined"],
    [{ gamma: "resolved", feed: resolution("settled", "no") }, "finalized no"],
  ]);
});

test("final prices settle a closed market if no source has an oracle state", () => {
  expectAll([
    [{ row: PINNED }, "finalized yes"],
    [{ row: { ...PINNED, outcomePrices: '["0", "1"]' } }, "finalized no"],
    [{ row: { ...PINNED, outcomePrices: '["0.5", "0.5"]' } }, "finalized partial"],
    [{ row: { ...PINNED, umaResolutionStatuses: "[]" } }, "finalized yes"],
    [{ row: { ...PINNED, outcomePrices: '["0.999", "0.001"]' } }, "closed"],
    [{ row: { ...PINNED, closed: false } }, "closed"],
    [{ row: { ...PINNED, closed: false, acceptingOrders: true } }, "active"],
  ]);
});

test("dates decide only between pending and closed; an end date in the past does not end trading", () => {
  expectAll([
    [{}, "active"],
    [{ row: { acceptingOrders: undefined } }, "active"],
    [{ row: HALTED }, "closed"],
    [{ row: { ...HALTED, acceptingOrdersTimestamp: "2026-12-01T00:00:00Z" } }, "pending"],
    [{ row: { active: false } }, "pending"],
    [{ row: CLOSED }, "closed"],
  ]);
});
