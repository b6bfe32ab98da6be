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
  /** What this member is at work on, as its handlers were told. */
  readonly working: Set<string>;
}

/** Members over one store; `names` gives what each of them holds, sorted. */
function openCluster(database: Database) {
  const cluster = new Cluster(database, SAMPLE_AT);
  const members: Member[] = [];
  let moves = 0;
  const add = (eligible: readonly string[] = NAMES, watched = NAMES): Member => {
    const node = cluster.addNode();
    const working = new Set<string>();
    const id = `node-${members.length}`;
    const leases = new Leases({
      store: createLeaseStore(node.database),
      holder: id,
      handlers: {
        acquired(name) {
          moves += 1;
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
  /** A node that was killed holds nothing; one that stands still counts, as it may go on at any moment. */
  const holders = (name: string) =>
    members.filter(({ node, leases }) => !node.isDead && leases.fenceOf(name) !== null).map(({ id }) => id);
  const assertSole = () => {
    for (const name of NAMES) assert.ok(holders(name).length <= 1, `${name} is held by ${holders(name).join(" and ")}`);
  };
  return {
    ...{ cluster, add, holders, members, assertSole },
    advance: (byMs: number) => cluster.advance(byMs, assertSole),
    counts: () => members.map(({ leases }) => NAMES.filter((name) => leases.fenceOf(name) !== null).length),
    moves: () => moves,
    async close() {
      await cluster.settle();
      for (const { node, leases } of members) {
        if (node.isDead) continue;
        if (node.isPaused) node.goOn();
        await Promise.all([leases.stop(), cluster.advance(500)]);
      }
    },
  };
}

eachDatabase("a lease is one node's until it runs out by the store's clock or is released", async (database) => {
  const cluster = new Cluster(database, SAMPLE_AT);
  const store = createLeaseStore(cluster.addNode().database);
  assert.equal(await store.acquire("venue:a", "one", 1_000), 1);
  assert.equal(await store.acquire("venue:a", "two", 1_000), null);
  assert.equal(await store.acquire("venue:a", "one", 1_000), 1, "its own lease is taken again under the same fence");
  cluster.clock.jumpWallClock(999);
  assert.equal(await store.acquire("venue:a", "two", 1_000), null);
  cluster.clock.jumpWallClock(1);
  assert.equal(await store.acquire("venue:a", "two", 1_000), 2);
  const renewed = await store.renew([{ name: "venue:a", fence: 1, report: "late" }], "one", 1_000);
  assert.deepEqual([...renewed], [], "who was taken over from cannot renew");
  await store.release("venue:a", "one", 1);
  assert.equal((await store.view(["venue:a"])).leases[0]?.isLive, true, "nor release");
  await store.release("venue:a", "two", 2);
  assert.equal(await store.acquire("venue:a", "one", 1_000), 3);
});

eachDatabase(
  "a node alone takes everything at once; a second one is given its half, and then nothing moves",
  async (database) => {
    const { add, advance, counts, moves, close } = openCluster(database);
    add();
    await advance(500);
    assert.deepEqual(counts(), [4]);
    add();
    await advance(10_000);
    assert.deepEqual(counts(), [2, 2]);
    const settled = moves();
    await advance(60_000);
    assert.equal(moves(), settled);
    await close();
  },
);

eachDatabase(
  "a killed node's leases are taken over once they have run out, a stopped one's at once",
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
  "a node cut off from the store stops before another can take over, and takes part again later",
  async (database) => {
    const { add, advance, counts, holders, close } = openCluster(database);
    const [first] = [add(), add()];
    await advance(15_000);
    first.node.isCut = true;
    await advance(4_600);
    assert.deepEqual([counts(), first.working.size], [[0, 2], 0]);
    await advance(5_000);
    assert.deepEqual(counts(), [0, 4]);
    first.node.isCut = false;
    await advance(10_000);
    assert.deepEqual(counts(), [2, 2]);
    for (const name of NAMES) assert.equal(holders(name).length, 1);
    await close();
  },
);

eachDatabase(
  "a node that stood still longer than its lease holds nothing from its first moment on",
  async (database) => {
    const { add, advance, counts, close } = openCluster(database);
    const [first] = [add(), add()];
    await advance(15_000);
    first.node.pause();
    await advance(30_000);
    assert.deepEqual(counts(), [0, 4]);
    first.node.goOn();
    assert.deepEqual([counts(), first.working.size], [[0, 4], 0]);
    await advance(10_000);
    assert.deepEqual(counts(), [2, 2]);
    await close();
  },
);

eachDatabase(
  "a node that wants one lease only is given that one, and a watcher sees what others hold",
  async (database) => {
    const { add, advance, counts, close } = openCluster(database);
    const [, picky, watcher] = [add(), add(["venue:c"]), add([])];
    await advance(10_000);
    assert.deepEqual([counts(), [...picky.working]], [[3, 1, 0], ["venue:c"]]);
    const seen = watcher.leases.find("venue:c");
    assert.deepEqual([seen?.holder, seen?.isLive, seen?.report], [picky.id, true, `${picky.id} reads venue:c`]);
    await close();
  },
);

onPostgres(
  "whatever happens to its nodes, no lease is ever two nodes' at once, and in quiet each is one's, fairly",
  async (database) => {
    const step = fc.record({
      what: fc.constantFrom("pause", "goOn", "cut", "mend", "kill", "add", "nothing"),
      who: fc.nat(4),
      thenMs: fc.integer({ min: 1, max: 90 }).map((tenths) => tenths * 100),
    });
    const takeOvers: number[] = [];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
        await database.query("truncate leases, lease_candidates");
        const { add, advance, counts, holders, members, moves, close } = openCluster(database);
        add();
        add();
        for (const { what, who, thenMs } of steps) {
          const member = members[who % members.length];
          if (what === "add" && members.length < 4) add();
          else if (member === undefined || member.node.isDead) continue;
          else if (what === "pause") member.node.pause();
          else if (what === "goOn") member.node.goOn();
          else if (what === "cut" || what === "mend") member.node.isCut = what === "cut";
          else if (what === "kill" && members.filter(({ node }) => !node.isDead).length > 1) member.node.kill();
          await advance(thenMs);
        }
        for (const { node } of members) {
          if (node.isDead) continue;
          node.isCut = false;
          node.goOn();
        }
        await advance(20_000);
        for (const name of NAMES) assert.equal(holders(name).length, 1, name);
        const shares = counts().filter((_, index) => members[index]?.node.isDead === false);
        assert.ok(Math.max(...shares) - Math.min(...shares) <= 1, shares.join());
        takeOvers.push(moves());
        await close();
      }),
      { numRuns: 8 },
    );
    assert.ok(Math.max(...takeOvers) > NAMES.length, "the schedules moved no lease");
  },
);
