import assert from "node:assert/strict";
import { afterEach } from "node:test";
import { Cluster, type ClusterNode } from "../../test/support/cluster.ts";
import { eachDatabase } from "../../test/support/databases.ts";
import { SAMPLE_AT, type SampleParts, sampleMarket } from "../../test/support/markets/market-samples.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { ScriptedVenue } from "../../test/support/venues/scripted-venue.ts";
import { createInProcessBus } from "../adapters/bus/in-process-bus.ts";
import { MarketBoard } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";
import { createEventLog } from "../event-log/index.ts";
import type { Bus } from "../ports/bus.ts";
import type { Database } from "../ports/database.ts";
import { createIngest, type Ingest, type NodeSettings, VenueHealth } from "./index.ts";

const VENUES = ["alpha", "beta"];
/** Time after which another node has taken over: longer than a lease and a round. */
const TAKE_OVER_MS = 8_000;

interface Member {
  readonly node: ClusterNode;
  readonly board: MarketBoard;
  readonly ingest: Ingest;
  readonly venues: ReadonlyMap<VenueId, ScriptedVenue>;
}

let close = async () => {};
afterEach(() => close());

/** Opens nodes with ingest on a store until the end of the test. `show` lists a market on the venues of every node. */
function openNodes(database: Database, bus?: Bus) {
  const cluster = new Cluster(database, SAMPLE_AT);
  const members: Member[] = [];
  const listedMarkets: ReturnType<typeof sampleMarket>[] = [];
  const add = async (settings: Partial<Omit<NodeSettings, "id">> = {}): Promise<Member> => {
    const node = cluster.addNode();
    const board = new MarketBoard(() => node.clock.now());
    const venues = new Map(
      VENUES.map((id) => [id, new ScriptedVenue(id, node.clock, { profile: { sweepPauseMs: 1_000 } })]),
    );
    const eventLog = createEventLog({ database: node.database, bus: createInProcessBus(quietLog) });
    const ingest = createIngest({
      venues: Array.from(venues.values(), (adapter) => {
        return { adapter, health: new VenueHealth(node.clock, adapter.profile) };
      }),
      node: { id: `node-${members.length}`, serves: true, ingests: true, maintains: true, ...settings },
      board,
      database: node.database,
      clock: node.clock,
      log: quietLog,
      eventLog,
      eventDays: 7,
      bus,
    });
    const member = { node, board, ingest, venues };
    members.push(member);
    for (const market of listedMarkets) venues.get(market.listing.venue)?.setMarkets(market);
    await ingest.restore();
    ingest.start();
    return member;
  };
  const show = (venue: VenueId, id: string, parts: SampleParts = {}) => {
    const market = sampleMarket(id, { ...parts, listing: { venue, ...parts.listing } });
    listedMarkets.push(market);
    for (const { venues } of members) venues.get(venue)?.setMarkets(market);
  };
  /** Returns the nodes that read a venue. Omits paused nodes, because they cannot stop. */
  const readers = (venue: VenueId) =>
    members.filter(({ node, ingest }) => !node.isDead && !node.isPaused && ingest.health()[venue]?.role === "ingest");
  close = async () => {
    for (const { node, ingest } of members) {
      if (node.isDead) continue;
      if (node.isPaused) node.resume();
      await Promise.all([ingest.stop(), cluster.advance(1_000)]);
    }
  };
  return {
    cluster,
    add,
    show,
    readers,
    advance: (byMs: number) =>
      cluster.advance(byMs, () => {
        for (const venue of VENUES)
          assert.ok(readers(venue).length <= 1, `${venue} has ${readers(venue).length} readers`);
      }),
    bidOn: ({ board }: Member, venue: VenueId, id: string) => board.find(venue, id)?.quote.bid ?? null,
  };
}

const ticksOf = async (database: Database, marketId: string) => {
  const rows = await database.query<{ bid: number }>(
    "select bid from ticks join markets on key = market_key where market_id = $1 order by event_at",
    [marketId],
  );
  return rows.map(({ bid }) => bid / 1_000_000);
};

eachDatabase(
  "two nodes read one venue each, and each node has the markets of both venues within two seconds",
  async (database) => {
    const { add, show, advance, readers, bidOn } = openNodes(database);
    show("alpha", "a");
    show("beta", "b");
    const nodes = [await add(), await add()];
    await advance(10_000);
    assert.deepEqual(
      VENUES.map((venue) => readers(venue).length),
      [1, 1],
    );
    assert.notEqual(readers("alpha")[0], readers("beta")[0]);
    for (const bid of [0.3, 0.35]) {
      show("alpha", "a", { quote: { bid } });
      show("beta", "b", { quote: { bid } });
      await advance(1_100);
      // The reader has completed its sweep. The follower reads the markets at its next poll.
      await advance(2_000);
      for (const member of nodes) {
        assert.deepEqual([bidOn(member, "alpha", "a"), bidOn(member, "beta", "b")], [bid, bid]);
      }
    }
  },
);

eachDatabase("the bus wakes the followers, so a stored change is on their boards immediately", async (database) => {
  const bus = createInProcessBus(quietLog);
  const { cluster, add, show, advance, bidOn } = openNodes(database, bus);
  show("alpha", "a");
  const reader = await add({ serves: false });
  // Starts the follower with an offset, so that none of its polls coincides with a flush of the reader.
  await advance(330);
  const server = await add({ ingests: false, maintains: false });
  await advance(10_000);
  let storedAt = Number.NaN;
  bus.subscribe("market_changes", () => {
    if (Number.isNaN(storedAt) && bidOn(reader, "alpha", "a") === 0.3) storedAt = cluster.clock.now();
  });
  show("alpha", "a", { quote: { bid: 0.3 } });
  while (bidOn(server, "alpha", "a") !== 0.3) await advance(10);
  assert.ok(cluster.clock.now() - storedAt <= 20, `updated ${cluster.clock.now() - storedAt} ms after it was stored`);
});

eachDatabase(
  "a node that only serves has the new markets, titles and settlements that the reader has stored",
  async (database) => {
    const { add, show, advance } = openNodes(database);
    const reader = await add({ serves: false });
    const server = await add({ ingests: false, maintains: false });
    show("alpha", "a", { activity: { volumeTotalUsd: 7 } });
    reader.venues.get("alpha")?.setMarkets();
    await advance(4_000);
    const followed = server.board.find("alpha", "a");
    assert.deepEqual(
      [followed?.listing.title, followed?.activity.volumeTotalUsd, followed?.yesPrice],
      ["Question a", 7, 0.41],
    );
    assert.equal(followed?.storeKey, reader.board.find("alpha", "a")?.storeKey);
    show("alpha", "a", { listing: { title: "Renamed", status: "finalized", outcome: { kind: "yes" } } });
    show("alpha", "late");
    await advance(20_000);
    const settled = server.board.find("alpha", "a")?.listing;
    assert.deepEqual([settled?.title, settled?.status, settled?.outcome], ["Renamed", "finalized", { kind: "yes" }]);
    assert.ok(server.board.find("alpha", "late"));
    assert.deepEqual(
      server.venues.get("alpha")?.callsOf("listOpenMarkets"),
      [],
      "the serving node does not request the venue",
    );
  },
);

eachDatabase("a follower's updated_at advances when the reader confirms an unchanged price", async (database) => {
  const { add, show, advance } = openNodes(database);
  show("alpha", "a");
  await add({ serves: false });
  const server = await add({ ingests: false });
  await advance(5_000);
  const before = server.board.find("alpha", "a")?.updatedAt ?? 0;
  await advance(65_000);
  const after = server.board.find("alpha", "a")?.updatedAt ?? 0;
  assert.ok(after - before >= 55_000, `${after - before} ms`);
  assert.deepEqual(await ticksOf(database, "a"), [0.4]);
});

eachDatabase(
  "if the reader is killed, another node continues from the stored state and writes no price twice",
  async (database) => {
    const { add, show, advance, readers, bidOn } = openNodes(database);
    show("alpha", "a", { quote: { bid: 0.3 } });
    const first = await add();
    await advance(3_000);
    const second = await add({ maintains: false });
    await advance(10_000);
    const [reader] = readers("alpha");
    const other = reader === first ? second : first;
    show("alpha", "a", { quote: { bid: 0.31 } });
    await advance(4_000);
    reader?.node.kill();
    await advance(TAKE_OVER_MS);
    assert.deepEqual(readers("alpha"), [other]);
    show("alpha", "a", { quote: { bid: 0.32 } });
    await advance(4_000);
    assert.equal(bidOn(other, "alpha", "a"), 0.32);
    assert.deepEqual(await ticksOf(database, "a"), [0.3, 0.31, 0.32]);
  },
);

eachDatabase("a paused node does not write its queued prices after another node has taken over", async (database) => {
  const { add, show, advance, readers, bidOn, cluster } = openNodes(database);
  show("alpha", "a", { quote: { bid: 0.3 } });
  const [first, second] = [await add(), await add()];
  await advance(10_000);
  const [reader] = readers("alpha");
  const other = reader === first ? second : first;
  assert.ok(reader !== undefined);
  // Only the reader receives this price, and it cannot write the price to the store.
  reader.venues.get("alpha")?.setMarkets(sampleMarket("a", { quote: { bid: 0.11 } }));
  for (let steps = 0; bidOn(reader, "alpha", "a") !== 0.11 && steps < 100; steps++) {
    reader.node.isDisconnected = true;
    await cluster.advance(100);
  }
  assert.equal(bidOn(reader, "alpha", "a"), 0.11);
  reader.node.pause();
  await advance(TAKE_OVER_MS);
  assert.deepEqual(readers("alpha"), [other]);
  reader.node.isDisconnected = false;
  reader.node.resume();
  reader.venues.get("alpha")?.setMarkets(sampleMarket("a", { quote: { bid: 0.3 } }));
  await cluster.advance(6_000);
  assert.deepEqual(await ticksOf(database, "a"), [0.3]);
  const [row] = await database.query<{ snapshot: string }>("select snapshot from markets where market_id = 'a'");
  assert.equal(JSON.parse(row?.snapshot ?? "{}").quote.bid, 0.3);
  assert.equal(bidOn(reader, "alpha", "a"), 0.3, "the board of the former reader has the stored price");
});

eachDatabase("a node that stops writes its queued rows and hands over its venues immediately", async (database) => {
  const { add, show, advance, readers, cluster } = openNodes(database);
  show("alpha", "a", { quote: { bid: 0.3 } });
  const first = await add();
  await advance(3_000);
  const second = await add({ ingests: true });
  await advance(10_000);
  const [reader] = readers("alpha");
  const other = reader === first ? second : first;
  show("alpha", "a", { quote: { bid: 0.31 } });
  for (
    let steps = 0;
    steps < 30 && (reader === undefined || reader.board.find("alpha", "a")?.quote.bid !== 0.31);
    steps++
  )
    await advance(100);
  await Promise.all([reader?.ingest.stop(), cluster.advance(1_500)]);
  assert.deepEqual(readers("alpha"), [other]);
  assert.deepEqual(await ticksOf(database, "a"), [0.3, 0.31]);
  assert.equal(other.board.find("alpha", "a")?.quote.bid, 0.31);
});

eachDatabase(
  "a follower reports the reader's health with its lag, and `degraded` if the reader is killed",
  async (database) => {
    const { add, show, advance } = openNodes(database);
    show("alpha", "a");
    const server = await add({ ingests: false, maintains: false });
    await advance(1_000);
    assert.deepEqual([server.ingest.health().alpha?.status, server.ingest.isSettled], ["starting", false]);
    const reader = await add();
    await advance(6_000);
    const health = server.ingest.health().alpha;
    assert.deepEqual(
      [health?.status, health?.role, health?.markets, server.ingest.isSettled],
      ["ok", "follower", 1, true],
    );
    const lagMs = (health?.lagMs ?? Number.NaN) - (reader.ingest.health().alpha?.lagMs ?? 0);
    assert.ok(Math.abs(lagMs) <= 2_100, `${lagMs} ms apart`);
    reader.node.kill();
    await advance(TAKE_OVER_MS);
    const after = server.ingest.health().alpha;
    assert.deepEqual([after?.status, after?.stream], ["degraded", "down"]);
    assert.ok((after?.lagMs ?? 0) >= TAKE_OVER_MS);
    await advance(500_000);
    assert.equal(server.ingest.health().alpha?.status, "down");
  },
);

eachDatabase(
  "a market looked up on a serving node is stored once and does not overwrite the reader's data",
  async (database) => {
    const { add, show, advance } = openNodes(database);
    show("alpha", "a", { quote: { bid: 0.3 } });
    await add({ serves: false });
    const server = await add({ ingests: false });
    await advance(5_000);
    const closed = sampleMarket("old", { listing: { status: "closed" } });
    server.venues.get("alpha")?.setMarkets(closed);
    assert.deepEqual(
      [await server.ingest.lookUp("alpha", "old"), await server.ingest.lookUp("alpha", "none")],
      [true, false],
    );
    server.venues.get("alpha")?.setMarkets(sampleMarket("a", { quote: { bid: 0.11 } }));
    await server.ingest.lookUp("alpha", "a");
    await advance(3_000);
    assert.ok(server.board.find("alpha", "old")?.storeKey !== null);
    assert.equal(server.board.find("alpha", "a")?.quote.bid, 0.3);
    const rows = await database.query<{ market_id: string }>("select market_id from markets order by market_id");
    assert.deepEqual(
      rows.map(({ market_id }) => market_id),
      ["a", "old"],
    );
    assert.deepEqual([await ticksOf(database, "a"), await ticksOf(database, "old")], [[0.3], []]);
  },
);

eachDatabase(
  "one node runs the maintenance jobs, and another node takes over if the first is killed",
  async (database) => {
    const { add, advance } = openNodes(database);
    const holder = async () =>
      (await database.query<{ holder: string }>("select holder from leases where name = 'job:maintenance'"))[0]?.holder;
    const first = await add({ ingests: false });
    await advance(1_000);
    await add({ ingests: false });
    await add({ ingests: false, maintains: false });
    await advance(10_000);
    assert.equal(await holder(), "node-0");
    first.node.kill();
    await advance(TAKE_OVER_MS);
    assert.equal(await holder(), "node-1");
  },
);
