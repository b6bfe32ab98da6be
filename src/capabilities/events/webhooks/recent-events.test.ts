import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventType } from "../../../event-log/index.ts";
import { type RecentEvent, RecentEvents } from "./recent-events.ts";

const event = (id: number, type: EventType = "price_shift", body = ""): RecentEvent => ({ id, type, body });
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const find = (recent: RecentEvents, position: number, limit = 100, types: EventType[] = ["price_shift"]) => {
  const { events, through } = recent.find(position, types, limit);
  return [events.map(({ id }) => id), through];
};

test("returns the events of the given types after a position, and the last id searched", () => {
  const recent = new RecentEvents();
  recent.reset(10);
  recent.add([event(12), event(13, "whale_alert"), event(15), event(16)], 18);
  assert.deepEqual(find(recent, 10), [[12, 15, 16], 18]);
  assert.deepEqual(find(recent, 12), [[15, 16], 18]);
  assert.deepEqual(find(recent, 10, 2), [[12, 15], 15]);
  assert.deepEqual(find(recent, 10, 9, ["whale_alert"]), [[13], 18]);
  assert.deepEqual(find(recent, 25), [[], 25], "a position never goes back");
});

test("after a reset, only later events are in memory", () => {
  const recent = new RecentEvents();
  recent.add([event(1)], 1);
  recent.reset(50);
  assert.deepEqual([recent.floor, recent.through, find(recent, 0)], [50, 50, [[], 50]]);
  recent.add([event(51)], 51);
  assert.deepEqual(find(recent, 50), [[51], 51]);
});

test("keeps the newest 5,000 events; the floor is the last id that was removed", () => {
  const recent = new RecentEvents();
  for (const first of range(0, 5).map((index) => index * 1_000 + 1))
    recent.add(
      range(first, first + 999).map((id) => event(id)),
      first + 999,
    );
  assert.deepEqual(
    [recent.floor, find(recent, 1_000, 1), find(recent, 5_999)],
    [1_000, [[1_001], 1_001], [[6_000], 6_000]],
  );
});

test("keeps at most 16 Mi characters of bodies, also after a reset", () => {
  const recent = new RecentEvents();
  const body = "x".repeat(1024 * 1024 + 1);
  recent.add(
    range(1, 15).map((id) => event(id, "price_shift", body)),
    15,
  );
  assert.equal(recent.floor, 0);
  recent.add(
    range(16, 17).map((id) => event(id, "price_shift", body)),
    17,
  );
  assert.equal(recent.floor, 2);
  recent.reset(20);
  recent.add(
    range(21, 35).map((id) => event(id, "price_shift", body)),
    35,
  );
  assert.equal(recent.floor, 20);
});
