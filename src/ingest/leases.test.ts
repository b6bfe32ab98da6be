import assert from "node:assert/strict";
import fc from "fast-check";
import { Cluster, type ClusterNode } from "../../test/support/cluster.ts";
import { eachDatabase, onPostgres } from "../../test/support/databases.ts";
import { SAMPLE_AT } from "../../test/support/markets/market-samples.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import type { Database } from "../ports/database.ts";
import { createLeaseStore } from "./lease-store.ts";
import { LEASE_MS, Leases } from "./leases.ts";

const LEASE_NAMES = ["venue:a", "venue:b", "venue:c", "venue:d"];

interface Member {
  readonly node: ClusterNode;
  readonly id: string;
  readonly leases: Leases;
  /** Names of the leases whose `acquired` handler was called but whose `ended` handler was not. */
  readonly workingLeases: Set<string>;
}

/** Opens a cluster of members that share one store. */
function openCluster(database: Database) {
  const cluster = new Cluster(database, SAMPLE_AT);
  const members: Member[] = [];
  let acquisitions = 0;
  const addMember = (eligible: readonly string[] = LEASE_NAMES, watched = LEASE_NAMES): Member => {
    const node = cluster.addNode();
    const workingLeases = new Set<string>();
    const id = `node-${members.length}`;
    const leases = new Leases({
      store: createLeaseStore(node.database),
      holder: id,
      handlers: {
        acquired(name) {
          acquisitions += 1;
          workingLeases.add(name);
        },
        async ended(name) {
          workingLeases.delete(name);
        },
        report: (name) => `${id} reads ${name}`,
      },
      eligible,
      watched,
      clock: node.clock,
      log: quietLog,
    });
    const member = { node, id, leases, workingLeases };
    members.push(member);
    leases.start();
    return member;
  };
  /** Returns the ids of members that hold a lease, including paused nodes, which may resume, but no killed nodes. */
  const holders = (name: string) =>
    members.filter(({ node, leases }) => !node.isDead && leases.fenceOf(name) !== null).map(({ id }) => id);
  const assertOneHolderEach = () => {
    for (const name of LEASE_NAMES)
      assert.ok(holders(name).length <= 1, `${name} is held by ${holders(name).join(" and ")}`);
  };
  return {
    cluster,
    addMember,
    holders,
    members,
    assertOneHolderEach,
    advance: (byMs: number) => cluster.advance(byMs, assertOneHolderEach),
    counts: () => members.map(({ leases }) => LEASE_NAMES.filter((name) => leases.fenceOf(name) !== null).length),
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
  "the leases and candidacies of holders with a prefix end, and those of other holders continue",
  async (database) => {
    const store = createLeaseStore(new Cluster(database, SAMPLE_AT).addNode().database);
    for (const [name, holder] of [
      ["venue:a", "node-1-0"],
      ["venue:b", "node-10-0"],
      ["venue:c", "other-node-1-0"],
    ] as const) {
      await store.acquire(name, holder, 1_000);
      await store.announce(holder, LEASE_NAMES, 1_000);
    }
    await store.releaseAll("node-1-");
    const { leases, candidates } = await store.view(LEASE_NAMES);
    assert.deepEqual(
      leases.map(({ name, isLive }) => [name, isLive]),
      [
        ["venue:a", false],
        ["venue:b", true],
        ["venue:c", true],
      ],
    );
    assert.deepEqual(
      candidates.map(({ candidate }) => candidate),
      ["node-10-0", "other-node-1-0"],
    );
    assert.equal(await store.acquire("venue:a", "node-1-1", 1_000), 2);
  },
);

eachDatabase(
  "a single node acquires all leases; a second node receives half of them, and the distribution stays stable",
  async (database) => {
    const { addMember, advance, counts, acquisitions, close } = openCluster(database);
    addMember();
    await advance(500);
    assert.deepEqual(counts(), [4]);
    addMember();
    await advance(10_000);
    assert.deepEqual(counts(), [2, 2]);
    const acquisitionsBefore = acquisitions();
    await advance(60_000);
    assert.equal(acquisitions(), acquisitionsBefore);
    await close();
  },
);

eachDatabase(
  "other nodes take over the leases of a killed node when they expire, and those of a stopped node immediately",
  async (database) => {
    const { addMember, advance, counts, cluster, close } = openCluster(database);
    const [first, second] = [addMember(), addMember()];
    addMember();
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
  "a node that is disconnected from the store stops before another node takes over, and rejoins after the reconnect",
  async (database) => {
    const { addMember, advance, counts, holders, close } = openCluster(database);
    const [first] = [addMember(), addMember()];
    await advance(15_000);
    first.node.isDisconnected = true;
    await advance(4_600);
    assert.deepEqual([counts(), first.workingLeases.size], [[0, 2], 0]);
    await advance(5_000);
    assert.deepEqual(counts(), [0, 4]);
    first.node.isDisconnected = false;
    await advance(10_000);
    assert.deepEqual(counts(), [2, 2]);
    for (const name of LEASE_NAMES) assert.equal(holders(name).length, 1);
    await close();
  },
);

eachDatabase("a node that was paused for longer than its lease holds no lease when it resumes", async (database) => {
  const { addMember, advance, counts, close } = openCluster(database);
  const [first] = [addMember(), addMember()];
  await advance(15_000);
  first.node.pause();
  await advance(30_000);
  assert.deepEqual(counts(), [0, 4]);
  first.node.resume();
  assert.deepEqual([counts(), first.workingLeases.size], [[0, 4], 0]);
  await advance(10_000);
  assert.deepEqual(counts(), [2, 2]);
  await close();
});

eachDatabase(
  "a node that is eligible for one lease receives it, and a node without eligible leases can read the other nodes' leases",
  async (database) => {
    const { addMember, advance, counts, close } = openCluster(database);
    const [, single, watcher] = [addMember(), addMember(["venue:c"]), addMember([])];
    await advance(10_000);
    assert.deepEqual([counts(), [...single.workingLeases]], [[3, 1, 0], ["venue:c"]]);
    const observed = watcher.leases.find("venue:c");
    assert.deepEqual(
      [observed?.holder, observed?.isLive, observed?.report],
      [single.id, true, `${single.id} reads venue:c`],
    );
    await close();
  },
);

onPostgres(
  "during random failures no lease has two holders, and after the failures the leases are spread evenly",
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
        const { addMember, advance, counts, holders, members, acquisitions, close } = openCluster(database);
        addMember();
        addMember();
        for (const { action, memberIndex, waitMs } of steps) {
          const member = members[memberIndex % members.length];
          if (action === "add" && members.length < 4) addMember();
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
        for (const name of LEASE_NAMES) assert.equal(holders(name).length, 1, name);
        const shares = counts().filter((_, index) => members[index]?.node.isDead === false);
        assert.ok(Math.max(...shares) - Math.min(...shares) <= 1, shares.join());
        acquisitionCounts.push(acquisitions());
        await close();
      }),
      { numRuns: 8 },
    );
    assert.ok(Math.max(...acquisitionCounts) > LEASE_NAMES.length, "no schedule moved a lease");
  },
);
