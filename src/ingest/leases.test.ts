import assert from "node:assert/strict";
import fc from "fast-check";
import { Cluster, type ClusterNode } from "../../test/support/cluster.ts";
import { eachDatabase, onPostgres } from "../../test/support/databases.ts";
import { SAMPLE_AT } from "../../test/support/market-samples.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import type { Database } from "../ports/database.ts";
import { createLeaseStore } from "./lease-store.ts";
import { LEASE_MS, Leases } from "./leases.ts";

const NAMES = ["venue:a", "venue:b", "venue:c", "venue:d"];

interface Member {
  readonly node: ClusterNode;
  readonly id: string;
  readonly leases: Leases;
  /** Leases between the `acquired` and `ended` calls of its handlers. */
  readonly working: Set<string>;
}

/** Members on one store. */
function openCluster(database: Database) {
  const cluster = new Cluster(database, SAMPLE_AT);
  const members: Member[] = [];
  let acquisitions = 0;
  const add = (eligible: readonly string[] = NAMES, watched = NAMES): Member => {
    const node = cluster.addNode();
    const working = new Set<string>();
    const id = `node-${members.length}`;
    const leases = new Leases({
      store: createLeaseStore(node.database),
      holder: id,
      handlers: {
        acquired(name) {
          acquisitions += 1;
          working.add(name);
        },
        async ended(name) {
          working.delete(name);
        },
        report: (name) => `${id} reads ${name}`,
      },
      ...{ eligible, watched, clock: node.clock, log: quietLog },
    });
    const member = { node, id, leases, working };
    members.push(member);
    leases.start();
    return member;
  };
  /** Includes paused nodes, because they may resume at any time, but not killed ones. */
  const holders = (name: string) =>
    members.filter(({ node, leases }) => !node.isDead && leases.fenceOf(name) !== null).map(({ id }) => id);
  const assertOneHolderEach = () => {
    for (const name of NAMES) assert.ok(holders(name).length <= 1, `${name} is held by ${holders(name).join(" and ")}`);
  };
  return {
    ...{ cluster, add, holders, members, assertOneHolderEach },
    advance: (byMs: number) => cluster.advance(byMs, assertOneHolderEach),
    counts: () => members.map(({ leases }) => NAMES.filter((name) => leases.fenceOf(name) !== null).length),
    acquisitions: () => acquisitions,
    async close() {
      await cluster.settle();
      for (const { node, leases } of members) {
        if (node.isDead) continue;
        if (node.isPaused) node.resume();
        await Promise.all([leases.stop(), cluster.advance(500)]);
      }
    },
  };
}

eachDatabase("a lease is held by one node until it expires by the store's clock or is released", async (database) => {
  const cluster = new Cluster(database, SAMPLE_AT);
  const store = createLeaseStore(cluster.addNode().database);
  assert.equal(await store.acquire("venue:a", "one", 1_000), 1);
  assert.equal(await store.acquire("venue:a", "two", 1_000), null);
  assert.equal(
    await store.acquire("venue:a", "one", 1_000),
    1,
    "the holder acquires its lease again with the same fence",
  );
  cluster.clock.jumpWallClock(999);
  assert.equal(await store.acquire("venue:a", "two", 1_000), null);
  cluster.clock.jumpWallClock(1);
  assert.equal(await store.acquire("venue:a", "two", 1_000), 2);
  const renewed = await store.renew([{ name: "venue:a", fence: 1, report: "late" }], "one", 1_000);
  assert.deepEqual([...renewed], [], "a former holder cannot renew");
  await store.release("venue:a", "one", 1);
  assert.equal((await store.view(["venue:a"])).leases[0]?.isLive, true, "a former holder cannot release");
  await store.release("venue:a", "two", 2);
  assert.equal(await store.acquire("venue:a", "one", 1_000), 3);
});

eachDatabase(
  "a single node acquires all leases; a second one receives half of them, then the distribution is stable",
  async (database) => {
    const { add, advance, counts, acquisitions, close } = openCluster(database);
    add();
    await advance(500);
    assert.deepEqual(counts(), [4]);
    add();
    await advance(10_000);
    assert.deepEqual(counts(), [2, 2]);
    const acquisitionsBefore = acquisitions();
    await advance(60_000);
    assert.equal(acquisitions(), acquisitionsBefore);
    await close();
  },
);

eachDatabase(
  "leases of a killed node are taken over when they expire, those of a stopped node immediately",
  async (database) => {
    const { add, advance, counts, cluster, close } = openCluster(database);
    const [first, second] = [add(), add()];
    add();
    await advance(15_000);
    assert.deepEqual(counts().toSorted(), [1, 1, 2]);
    first.node.kill();
    await advance(LEASE_MS + 1_500);
    assert.deepEqual(counts().slice(1), [2, 2]);
    await Promise.all([second.leases.stop(), cluster.advance(1_200)]);
    assert.deepEqual(counts().slice(1), [0, 4]);
    await close();
  },
);

eachDatabase(
  "a node disconnected from the store stops before another takes over, and rejoins when reconnected",
  async (database) => {
    const { add, advance, counts, holders, close } = openCluster(database);
    const [first] = [add(), add()];
    await advance(15_000);
    first.node.isDisconnected = true;
    await advance(4_600);
    assert.deepEqual([counts(), first.working.size], [[0, 2], 0]);
    await advance(5_000);
    assert.deepEqual(counts(), [0, 4]);
    first.node.isDisconnected = false;
    await advance(10_000);
    assert.deepEqual(counts(), [2, 2]);
    for (const name of NAMES) assert.equal(holders(name).length, 1);
    await close();
  },
);

eachDatabase("a node that was paused for longer than its lease holds no lease when it resumes", async (database) => {
  const { add, advance, counts, close } = openCluster(database);
  const [first] = [add(), add()];
  await advance(15_000);
  first.node.pause();
  await advance(30_000);
  assert.deepEqual(counts(), [0, 4]);
  first.node.resume();
  assert.deepEqual([counts(), first.working.size], [[0, 4], 0]);
  await advance(10_000);
  assert.deepEqual(counts(), [2, 2]);
  await close();
});

eachDatabase(
  "a node that is eligible for one lease receives it, and a node that only watches reads the others' leases",
  async (database) => {
    const { add, advance, counts, close } = openCluster(database);
    const [, single, watcher] = [add(), add(["venue:c"]), add([])];
    await advance(10_000);
    assert.deepEqual([counts(), [...single.working]], [[3, 1, 0], ["venue:c"]]);
    const observed = watcher.leases.find("venue:c");
    assert.deepEqual(
      [observed?.holder, observed?.isLive, observed?.report],
      [single.id, true, `${single.id} reads venue:c`],
    );
    await close();
  },
);

onPostgres(
  "under random failures no lease has two holders, and afterwards the leases are spread evenly",
  async (database) => {
    const step = fc.record({
      action: fc.constantFrom("pause", "resume", "disconnect", "reconnect", "kill", "add", "nothing"),
      memberIndex: fc.nat(4),
      waitMs: fc.integer({ min: 1, max: 90 }).map((tenths) => tenths * 100),
    });
    const acquisitionCounts: number[] = [];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
        await database.query("truncate leases, lease_candidates");
        const { add, advance, counts, holders, members, acquisitions, close } = openCluster(database);
        add();
        add();
        for (const { action, memberIndex, waitMs } of steps) {
          const member = members[memberIndex % members.length];
          if (action === "add" && members.length < 4) add();
          else if (member === undefined || member.node.isDead) continue;
          else if (action === "pause") member.node.pause();
          else if (action === "resume") member.node.resume();
          else if (action === "disconnect" || action === "reconnect")
            member.node.isDisconnected = action === "disconnect";
          else if (action === "kill" && members.filter(({ node }) => !node.isDead).length > 1) member.node.kill();
          await advance(waitMs);
        }
        for (const { node } of members) {
          if (node.isDead) continue;
          node.isDisconnected = false;
          node.resume();
        }
        await advance(20_000);
        for (const name of NAMES) assert.equal(holders(name).length, 1, name);
        const shares = counts().filter((_, index) => members[index]?.node.isDead === false);
        assert.ok(Math.max(...shares) - Math.min(...shares) <= 1, shares.join());
        acquisitionCounts.push(acquisitions());
        await close();
      }),
      { numRuns: 8 },
    );
    assert.ok(Math.max(...acquisitionCounts) > NAMES.length, "no schedule moved a lease");
  },
);
