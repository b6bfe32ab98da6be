import assert from "node:assert/strict";
import { eachDatabase } from "../../../test/support/databases.ts";
import { takeAttempt } from "./attempts.ts";

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0, 123);
const HOURLY = [{ limit: 5, windowMs: 3_600_000 }];

eachDatabase("of a hundred concurrent attempts five are allowed, counted per subject", async (database) => {
  const waits = await Promise.all(Array.from({ length: 100 }, () => takeAttempt(database, "a", HOURLY, NOW)));
  assert.equal(waits.filter((wait) => wait === 0).length, 5);
  assert.ok(waits.every((wait) => wait === 0 || wait === 3_600_000));
  assert.equal(await takeAttempt(database, "b", HOURLY, NOW), 0);
});

eachDatabase("no sliding hour has more than five attempts, and the reported wait is exact", async (database) => {
  const taken: number[] = [];
  let now = NOW;
  // Varying intervals, so that windows start at different offsets.
  for (let attempt = 0; attempt < 60; attempt++) {
    now += ((attempt * 37) % 17) * 60_000;
    const wait = await takeAttempt(database, "a", HOURLY, now);
    if (wait === 0) {
      taken.push(now);
      continue;
    }
    assert.notEqual(await takeAttempt(database, "a", HOURLY, now + wait - 1), 0, "not allowed a millisecond earlier");
    now += wait;
    assert.equal(await takeAttempt(database, "a", HOURLY, now), 0, "allowed after the reported wait");
    taken.push(now);
  }
  for (const start of taken) {
    const count = taken.filter((at) => at >= start && at < start + 3_600_000).length;
    assert.ok(count <= 5, `${count} in one hour`);
  }
  const [row] = await database.query<{ count: number }>("select cardinality(taken_at) as count from attempts");
  assert.ok((row?.count ?? 0) <= 120, "only one day is stored");
});

eachDatabase("the strictest of several rules applies: one per minute and three per day", async (database) => {
  const rules = [
    { limit: 1, windowMs: 60_000 },
    { limit: 3, windowMs: 86_400_000 },
  ];
  const attemptAt = (minutes: number) => takeAttempt(database, "mail:ada@example.org", rules, NOW + minutes * 60_000);
  assert.equal(await attemptAt(0), 0);
  assert.equal(await attemptAt(0.5), 30_000);
  assert.equal(await attemptAt(1), 0);
  assert.equal(await attemptAt(2), 0);
  assert.equal(await attemptAt(3), 86_400_000 - 3 * 60_000);
  assert.equal(await attemptAt(1440), 0);
});
