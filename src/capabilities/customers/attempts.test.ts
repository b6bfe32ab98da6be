import assert from "node:assert/strict";
import { eachDatabase } from "../../../test/support/databases.ts";
import { takeAttempt } from "./attempts.ts";

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0, 123);
const HOURLY = [{ limit: 5, windowMs: 3_600_000 }];

eachDatabase("a hundred attempts at once: five are taken, each subject its own", async (database) => {
  const waits = await Promise.all(Array.from({ length: 100 }, () => takeAttempt(database, "a", HOURLY, NOW)));
  assert.equal(waits.filter((wait) => wait === 0).length, 5);
  assert.ok(waits.every((wait) => wait === 0 || wait === 3_600_000));
  assert.equal(await takeAttempt(database, "b", HOURLY, NOW), 0);
});

eachDatabase("no sliding hour holds more than five, and the wait that is told is true", async (database) => {
  const taken: number[] = [];
  let now = NOW;
  // Minutes between tries, so that windows begin everywhere.
  for (let turn = 0; turn < 60; turn++) {
    now += ((turn * 37) % 17) * 60_000;
    const wait = await takeAttempt(database, "a", HOURLY, now);
    if (wait === 0) {
      taken.push(now);
      continue;
    }
    assert.notEqual(await takeAttempt(database, "a", HOURLY, now + wait - 1), 0, "not a millisecond earlier");
    now += wait;
    assert.equal(await takeAttempt(database, "a", HOURLY, now), 0, "and not one later");
    taken.push(now);
  }
  for (const start of taken) {
    const held = taken.filter((at) => at >= start && at < start + 3_600_000).length;
    assert.ok(held <= 5, `${held} in one hour`);
  }
  const [row] = await database.query<{ count: number }>("select cardinality(taken_at) as count from attempts");
  assert.ok((row?.count ?? 0) <= 120, "only a day is kept");
});

eachDatabase("of several rules the strictest counts: one a minute and three a day", async (database) => {
  const rules = [
    { limit: 1, windowMs: 60_000 },
    { limit: 3, windowMs: 86_400_000 },
  ];
  const at = (minutes: number) => takeAttempt(database, "mail:ada@example.org", rules, NOW + minutes * 60_000);
  assert.equal(await at(0), 0);
  assert.equal(await at(0.5), 30_000);
  assert.equal(await at(1), 0);
  assert.equal(await at(2), 0);
  assert.equal(await at(3), 86_400_000 - 3 * 60_000);
  assert.equal(await at(1440), 0);
});
