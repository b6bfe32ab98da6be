import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../../src/lib/durations.ts";
import { relateCriteria } from "../criterion-relation.ts";
import { uniform } from "../random.ts";
import type { OutcomeProcess } from "../truth.ts";
import { SANDBOX_VENUES } from "../types.ts";
import {
  createScheduledEvent,
  drawEvent,
  type EventDefinition,
  listScheduledEvents,
  TRAP_KINDS,
  type TrapDefinition,
} from "./index.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const SALT = 9_998;

interface Sample {
  readonly process: OutcomeProcess;
  readonly definition: EventDefinition;
}

/** 600 drawn events and all scheduled events of two years. */
function* listSamples(): Generator<Sample> {
  const seed = 1;
  for (let underlying = 0; underlying < 600; underlying++) {
    const days = 0.2 + 60 * uniform(seed, underlying, SALT) ** 2;
    const times = { openAt: GENESIS, closeAt: GENESIS + Math.round(days * 24) * HOUR_MS + HOUR_MS };
    const { definition, closeAt } = drawEvent({ seed, underlying, ...times });
    const process = { seed, underlying, model: definition.model, openAt: GENESIS, revealAt: closeAt };
    yield { process, definition };
  }
  for (const scheduled of listScheduledEvents(GENESIS, GENESIS + 730 * DAY_MS)) {
    const underlying = 900_000 + scheduled.number;
    const definition = createScheduledEvent(scheduled, { seed, underlying });
    const { openAt, closeAt } = scheduled;
    yield { process: { seed, underlying, model: definition.model, openAt, revealAt: closeAt }, definition };
  }
}

/** Calls `check` for each market of each trap that looks like a market of the original event. */
function checkTraps(
  check: (trap: TrapDefinition, sample: Sample, position: number, resembles: number) => void,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const sample of listSamples()) {
    for (const trap of sample.definition.traps?.() ?? []) {
      for (const [position, { resembles }] of trap.event.markets.entries()) {
        if (resembles === undefined || resembles >= sample.definition.markets.length) continue;
        check(trap, sample, position, resembles);
        counts.set(trap.kind, (counts.get(trap.kind) ?? 0) + 1);
      }
    }
  }
  return counts;
}

const relate = ({ event }: TrapDefinition, { process, definition }: Sample, position: number, resembles: number) => {
  const [market, original] = [event.markets[position], definition.markets[resembles]];
  assert.ok(market !== undefined && original !== undefined);
  return relateCriteria(process, market.criterion, process, original.criterion);
};

test("a trap that shares its event's process is not identical to the event, except the last range of a bucket trap", () => {
  const counts = checkTraps((trap, sample, position, resembles) => {
    if (!trap.sharesProcess) return;
    const relation = relate(trap, sample, position, resembles);
    const message = `${trap.kind} ${relation}: ${trap.event.titles.kalshi}`;
    const { markets } = trap.event;
    if (trap.kind === "polarity") assert.equal(relation, "inverse", message);
    else if (trap.kind === "bucket" && position === markets.length - 1 && markets.length > 1)
      assert.equal(relation, "identical", message);
    else assert.notEqual(relation, "identical", message);
  });
  assert.deepEqual([...counts.keys()].sort(), [...TRAP_KINDS].sort());
});

test("a trap with its own process has a different identity from its event", () => {
  let compared = 0;
  for (const { definition } of listSamples()) {
    for (const { sharesProcess, event } of definition.traps?.() ?? []) {
      if (sharesProcess) continue;
      assert.notEqual(event.identity, definition.identity);
      compared += 1;
    }
  }
  assert.ok(compared > 500);
});

test("a trap differs from its event in the question or the rules on every venue", () => {
  checkTraps(({ kind, event }, { definition }, position, resembles) => {
    const [market, original] = [event.markets[position], definition.markets[resembles]];
    for (const venue of SANDBOX_VENUES) {
      const isBucketEnd = kind === "bucket" && position === event.markets.length - 1;
      const isEqual =
        market?.questions[venue] === original?.questions[venue] && market?.rules[venue] === original?.rules[venue];
      assert.ok(!isEqual || isBucketEnd, `${kind} on ${venue}: ${market?.questions[venue]}`);
    }
  });
});
