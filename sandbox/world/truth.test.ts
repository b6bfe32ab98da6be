import assert from "node:assert/strict";
import { test } from "node:test";
import { uniform } from "./random.ts";
import { drawBlueprint, quarterHourRound } from "./templates.ts";
import { type Claim, type TruthSource, trueProbability } from "./truth.ts";
import { SANDBOX_VENUES } from "./types.ts";
import { Universe } from "./universe.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A kind of draw that the world itself does not use. */
const SALT = 9_999;
const BINS = 10;

interface Bin {
  count: number;
  excess: number;
  variance: number;
}

/** For each bin of the probability told at a random instant: how far reality strayed from it, in standard errors. */
function strays(source: TruthSource, claim: Claim, bins: readonly Bin[]): void {
  const until = claim.kind === "before" ? claim.deadline : source.revealAt;
  const at = source.openAt + uniform(source.seed, source.underlying, SALT) * (until - source.openAt);
  const p = trueProbability(source, claim, at);
  const bin = bins[Math.min(BINS - 1, Math.floor(p * BINS))];
  if (bin === undefined || p === 0 || p === 1) return;
  bin.count += 1;
  bin.excess += trueProbability(source, claim, source.revealAt) - p;
  bin.variance += p * (1 - p);
}

test("what the truth says comes true as often as it says, in every bin, over eight unseen seeds", () => {
  const bins = Array.from({ length: BINS }, (): Bin => ({ count: 0, excess: 0, variance: 0 }));
  for (let seed = 101; seed <= 108; seed++) {
    for (let underlying = 0; underlying < 1_500; underlying++) {
      const days = 0.2 + 60 * uniform(seed, underlying, SALT, 1) ** 2;
      const occasion = {
        seed,
        underlying,
        openAt: GENESIS,
        closeAt: GENESIS + Math.round(days * 24) * HOUR_MS + HOUR_MS,
      };
      const isRound = underlying % 10 === 0;
      const blueprint = isRound ? quarterHourRound(occasion) : drawBlueprint(occasion);
      const source: TruthSource = {
        seed,
        underlying,
        truth: blueprint.truth,
        openAt: occasion.openAt,
        revealAt: occasion.closeAt,
      };
      // One claim an event: several of one event would not be independent.
      const leg = blueprint.markets[Math.floor(uniform(seed, underlying, SALT, 2) * blueprint.markets.length)];
      if (leg !== undefined) strays(source, leg.claim, bins);
    }
  }
  for (const [number, { count, excess, variance }] of bins.entries()) {
    assert.ok(count > 200, `bin ${number} has ${count}`);
    assert.ok(
      Math.abs(excess) <= 4 * Math.sqrt(variance),
      `bin ${number}: ${excess} of ${count}, error ${Math.sqrt(variance)}`,
    );
  }
});

/** Markets of worlds with these seeds together with what only the world knows of them. */
function* secrets(seeds: readonly number[]) {
  for (const seed of seeds) {
    const universe = new Universe({ seed, genesis: GENESIS, marketCount: 200 });
    for (const venue of SANDBOX_VENUES) {
      for (const event of universe.events(venue, GENESIS).events) {
        yield { event, secrets: event.markets.map((market) => universe.secret(market)) };
      }
    }
  }
}

test("along a ladder the truth never turns: higher thresholds are less likely, later deadlines more", () => {
  let ladders = 0;
  for (const { event, secrets: legs } of secrets([1, 2, 3])) {
    if (!event.ladder || legs.length < 2) continue;
    ladders += 1;
    for (let step = 0; step <= 20; step++) {
      const at = event.openAt + ((event.closeAt - event.openAt) * step) / 20;
      const truths = legs.map(({ source, claim }) => trueProbability(source, claim, at));
      const isDeadline = legs[0]?.claim.kind === "before";
      const ordered = isDeadline ? truths : truths.toReversed();
      assert.ok(
        ordered.every((p, index) => index === 0 || p >= (ordered[index - 1] ?? 0) - 1e-9),
        `${event.title}: ${truths}`,
      );
    }
  }
  assert.ok(ladders > 30, String(ladders));
});

test("the truths of exclusive questions add up to at most 1, and to 1 where they cover everything", () => {
  let exhaustive = 0;
  for (const { event, secrets: legs } of secrets([4, 5])) {
    if (!event.mutuallyExclusive) continue;
    for (let step = 0; step < 10; step++) {
      const at = event.openAt + ((event.closeAt - event.openAt) * step) / 10;
      const sum = legs.reduce((total, { source, claim }) => total + trueProbability(source, claim, at), 0);
      assert.ok(sum <= 1 + 1e-6, `${event.title}: ${sum}`);
      if (event.exhaustive) {
        assert.ok(Math.abs(sum - 1) < 1e-6, `${event.title}: ${sum}`);
        exhaustive += 1;
      }
    }
  }
  assert.ok(exhaustive > 50);
});

test("once revealed, the truth is 0 or 1 and stays so", () => {
  for (const { event, secrets: legs } of secrets([6])) {
    for (const { source, claim, endsAt } of legs) {
      const until = claim.kind === "before" ? claim.deadline : source.revealAt;
      const told = trueProbability(source, claim, until);
      assert.ok(told === 0 || told === 1);
      assert.equal(trueProbability(source, claim, until + 30 * DAY_MS), told);
      assert.ok(endsAt <= event.closeAt && endsAt > event.openAt);
    }
  }
});
