import assert from "node:assert/strict";
import { eachDatabase } from "../../../test/support/databases.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { eventually } from "../../../test/support/service-process.ts";
import type { Database } from "../../ports/database.ts";
import { createInProcessBus } from "../bus/in-process-bus.ts";
import { systemClock } from "../system/system-clock.ts";
import { createPgBossQueues } from "./pg-boss-queues.ts";

const open = (database: Database, bus = createInProcessBus(quietLog)) =>
  createPgBossQueues({ database, bus, clock: systemClock, log: quietLog });
const add = (database: Database, queue: ReturnType<ReturnType<typeof open>["open"]>, name: string, priority = 0) =>
  database.transaction((transaction) => queue.enqueue(transaction, { data: { name }, priority }));
const namesOf = (jobs: readonly { readonly data: unknown }[]) =>
  jobs.map(({ data }) => (data as { name: string }).name).sort();

eachDatabase("each job is fetched by one node, in the order of priority and age", async (database) => {
  const [first, second] = [open(database).open("letters"), open(database).open("letters")];
  await Promise.all([first.prepare(), second.prepare()]);
  for (const [name, priority] of [
    ["a", 0],
    ["b", 0],
    ["c", 5],
    ["d", -5],
  ] as const)
    await add(database, first, name, priority);
  const [one, two] = [await first.fetch(2), await second.fetch(5)];
  assert.deepEqual(
    [namesOf(one), namesOf(two)],
    [
      ["a", "c"],
      ["b", "d"],
    ],
  );
  assert.deepEqual(await open(database).open("others").fetch(5), []);
});

eachDatabase("a job is added and completed in the transaction of the caller", async (database) => {
  const queue = open(database).open("letters");
  await queue.prepare();
  const rolledBack = database.transaction(async (transaction) => {
    await queue.enqueue(transaction, { data: { name: "lost" }, priority: 0 });
    throw new Error("rolled back");
  });
  await assert.rejects(rolledBack, /rolled back/);
  assert.deepEqual(await queue.fetch(5), []);
  await add(database, queue, "kept");
  const [job] = await queue.fetch(5);
  assert.ok(job !== undefined);
  await database.transaction((transaction) => queue.complete(transaction, job));
  await queue.giveBack(job);
  assert.deepEqual(await queue.fetch(5), [], "an ended job cannot be given back");
});

eachDatabase(
  "a job that is not renewed is taken over, and its first worker can no longer change it",
  async (database) => {
    const queue = open(database).open("letters");
    await queue.prepare();
    await add(database, queue, "a");
    const [lost] = await queue.fetch(1);
    assert.ok(lost !== undefined);
    await queue.reclaim();
    const [schema] = await database.query<{ name: string }>(
      `select quote_ident(schemaname) as name from pg_tables
     where tablename = 'job' and schemaname in ('parallax_jobs', current_schema() || '_jobs')`,
    );
    const taken = await eventually(async () => {
      await database.query(`update ${schema?.name}.job set heartbeat_on = now() - interval '1 minute'`);
      await queue.reclaim();
      const [job] = await queue.fetch(1);
      return job ?? null;
    }, "the take-over");
    assert.deepEqual([taken.id, taken.attempt], [lost.id, lost.attempt + 1]);
    await queue.renew([lost]);
    await queue.giveBack(lost);
    await database.transaction((transaction) => queue.complete(transaction, lost));
    const [state] = await database.query(`select state::text from ${schema?.name}.job`);
    assert.deepEqual({ ...state }, { state: "active" });
  },
);

eachDatabase("an announcement wakes the workers, and a closed queue refuses work", async (database) => {
  const bus = createInProcessBus(quietLog);
  const queues = open(database, bus);
  const queue = queues.open("letters");
  const woken = Promise.withResolvers<void>();
  queue.onAnnounced(() => woken.resolve());
  queue.announce();
  await woken.promise;
  await queue.fetch(1);
  await queues.close();
  await assert.rejects(queues.open("others").fetch(1), { code: "draining" });
});
