import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setImmediate as nextIteration, setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import pg from "pg";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { startTcpProxy, type TcpProxy } from "../../../test/support/tcp-proxy.ts";
import type { Bus } from "../../ports/bus.ts";
import type { Clock } from "../../ports/clock.ts";
import { systemClock } from "../system/system-clock.ts";
import { systemRandom } from "../system/system-random.ts";
import { createInProcessBus } from "./in-process-bus.ts";
import { openPostgresBus } from "./postgres-bus.ts";
import { openRedisBus } from "./redis-bus.ts";

const BURST_SIZE = 10_000;
const CHANNEL_NAME = `test_${process.pid}_${Date.now().toString(36)}`;
const { TEST_DATABASE_URL, TEST_REDIS_URL } = process.env;

const cleanups: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const close of cleanups.reverse()) await close();
});

interface ConnectOptions {
  readonly clock?: Clock;
  readonly proxy?: TcpProxy;
}

/** An implementation of the bus, with functions to open it and to close its connections at the server. */
interface Kind {
  readonly name: string;
  readonly skip: string | false;
  /** Opens a bus that behaves like the bus of a separate process. */
  open(options?: ConnectOptions): Bus;
  readonly serverUrl: string | null;
  /** Closes the connections of this test's buses at the server. Returns their number. */
  kill(): Promise<number>;
  inject(text: string): Promise<void>;
}

const withPostgres = async <Result>(run: (client: pg.Client) => Promise<Result>): Promise<Result> => {
  const client = new pg.Client({ connectionString: TEST_DATABASE_URL });
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
};

const withRedis = async <Result>(run: (client: Redis) => Promise<Result>): Promise<Result> => {
  const client = new Redis(TEST_REDIS_URL ?? "");
  try {
    return await run(client);
  } finally {
    client.disconnect();
  }
};

const KINDS: readonly Kind[] = [
  {
    name: "in process",
    skip: false,
    open: () => createInProcessBus(quietLog),
    serverUrl: null,
    kill: async () => 0,
    inject: async () => {},
  },
  {
    name: "postgres",
    skip: TEST_DATABASE_URL === undefined ? "TEST_DATABASE_URL is not set" : false,
    open: ({ clock = systemClock, proxy } = {}) =>
      openPostgresBus({
        url: proxy?.url ?? TEST_DATABASE_URL ?? "",
        channel: CHANNEL_NAME,
        clock,
        random: systemRandom,
        log: quietLog,
      }),
    serverUrl: TEST_DATABASE_URL ?? null,
    kill: () =>
      withPostgres(async (client) => {
        const { rowCount } = await client.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1",
          [CHANNEL_NAME],
        );
        return rowCount ?? 0;
      }),
    inject: (text) =>
      withPostgres(async (client) => {
        await client.query("select pg_notify($1, $2)", [CHANNEL_NAME, text]);
      }),
  },
  {
    name: "redis",
    skip: TEST_REDIS_URL === undefined ? "TEST_REDIS_URL is not set" : false,
    open: ({ clock = systemClock, proxy } = {}) =>
      openRedisBus({
        url: proxy?.url ?? TEST_REDIS_URL ?? "",
        prefix: `${CHANNEL_NAME}:`,
        clock,
        random: systemRandom,
        log: quietLog,
      }),
    serverUrl: TEST_REDIS_URL ?? null,
    kill: () =>
      withRedis(async (client) => {
        const list = String(await client.call("CLIENT", "LIST"));
        const ids = list
          .split("\n")
          .filter((line) => line.includes(`name=${CHANNEL_NAME}:`))
          .flatMap((line) => /^id=(\d+)/.exec(line)?.[1] ?? []);
        for (const id of ids) await client.call("CLIENT", "KILL", "ID", id);
        return ids.length;
      }),
    inject: (text) =>
      withRedis(async (client) => {
        await client.publish(`${CHANNEL_NAME}:bus`, text);
      }),
  },
];

/** Timeout of each test, for conditions that never become true. */
const TEST_MS_MAX = 10_000;
/** Aborts when the current test ends. */
let testSignal = new AbortController().signal;

/** Waits until a condition that depends on real servers is true. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(2, undefined, { signal: testSignal });
}

function recordHints(bus: Bus, topic: string) {
  const hints: (string | null)[] = [];
  const unsubscribe = bus.subscribe(topic, (hint) => void hints.push(hint));
  return { hints, unsubscribe };
}

/** Opens two connected buses and waits until the wake-ups caused by connecting have arrived. */
async function openPair(kind: Kind, options: { here?: ConnectOptions; there?: ConnectOptions } = {}) {
  const here = kind.open(options.here);
  const there = kind.serverUrl === null ? here : kind.open(options.there);
  cleanups.push(
    () => here.close(),
    () => there.close(),
  );
  await until(() => here.isConnected && there.isConnected);
  await nextIteration();
  return { here, there };
}

/** Advances the clock until the bus is connected, but not during a connection attempt, so that no attempt times out. */
async function advanceUntilConnected(bus: Bus, proxy: TcpProxy, clock: FakeClock): Promise<void> {
  while (!bus.isConnected) {
    if (proxy.connections === 0) await clock.advance(100);
    await pause(2, undefined, { signal: testSignal });
  }
}

async function openProxy(kind: Kind): Promise<TcpProxy> {
  if (kind.serverUrl === null) throw new Error("this kind of bus has no server");
  const proxy = await startTcpProxy(kind.serverUrl);
  cleanups.push(() => proxy.close());
  return proxy;
}

function testKinds(kinds: readonly Kind[], name: string, fn: (kind: Kind) => Promise<void>): void {
  for (const kind of kinds) {
    test(`${name} [${kind.name}]`, { skip: kind.skip, timeout: TEST_MS_MAX }, async (context) => {
      testSignal = context.signal;
      await fn(kind);
    });
  }
}

const eachKind = (name: string, fn: (kind: Kind) => Promise<void>) => testKinds(KINDS, name, fn);
const eachConnectedKind = (name: string, fn: (kind: Kind) => Promise<void>) => testKinds(KINDS.slice(1), name, fn);

eachKind("a publication wakes the subscribers of its topic in both processes and passes its hint", async (kind) => {
  const { here, there } = await openPair(kind);
  const subscribers = [recordHints(here, "prices"), recordHints(there, "prices"), recordHints(there, "prices")];
  const otherTopic = recordHints(there, "other");
  here.publish("prices", "é 1");
  await until(() => subscribers.every(({ hints }) => hints.length > 0));
  assert.deepEqual(
    subscribers.map(({ hints }) => hints),
    [["é 1"], ["é 1"], ["é 1"]],
  );
  here.publish("other");
  await until(() => otherTopic.hints.length > 0);
  assert.deepEqual([otherTopic.hints, subscribers[1]?.hints], [[null], ["é 1"]]);
});

eachKind(
  "an unsubscribed function is not called, and a subscriber that throws does not affect other subscribers",
  async (kind) => {
    const { here, there } = await openPair(kind);
    const unsubscribed = recordHints(there, "prices");
    there.subscribe("prices", () => {
      throw new Error("subscriber failed");
    });
    const last = recordHints(there, "prices");
    unsubscribed.unsubscribe();
    unsubscribed.unsubscribe();
    here.publish("prices", "1");
    await until(() => last.hints.length > 0);
    assert.deepEqual([unsubscribed.hints, last.hints], [[], ["1"]]);
  },
);

eachKind("a burst of publications causes few wake-ups, and the last publication causes one", async (kind) => {
  const { here, there } = await openPair(kind);
  const local = recordHints(here, "prices");
  const remote = recordHints(there, "prices");
  for (let number = 1; number <= BURST_SIZE; number++) here.publish("prices", `${number}`);
  await until(() => remote.hints.at(-1) === `${BURST_SIZE}`);
  assert.deepEqual([local.hints.at(-1), local.hints.length], [`${BURST_SIZE}`, 1]);
  assert.ok(remote.hints.length <= 3, `${remote.hints.length} wake-ups`);

  // A burst over many event-loop iterations causes at most one wake-up per iteration.
  const iterations = 100;
  local.hints.length = 0;
  remote.hints.length = 0;
  for (let iteration = 1; iteration <= iterations; iteration++) {
    for (let number = 1; number <= BURST_SIZE / iterations; number++) here.publish("prices", `${iteration}.${number}`);
    await nextIteration();
  }
  await until(() => remote.hints.at(-1) === `${iterations}.${BURST_SIZE / iterations}`);
  assert.ok(
    local.hints.length <= iterations && remote.hints.length <= iterations,
    `${local.hints.length}, ${remote.hints.length}`,
  );
});

eachKind("drops publications with an invalid topic or a hint over 256 characters", async (kind) => {
  const { here, there } = await openPair(kind);
  const remote = recordHints(there, "prices");
  for (const topic of ["", "Ä", "a b", "x".repeat(65)]) here.publish(topic);
  here.publish("prices", "x".repeat(257));
  here.publish("prices", "y".repeat(256));
  await until(() => remote.hints.length > 0);
  assert.deepEqual(remote.hints, ["y".repeat(256)]);
});

eachKind("a closed bus sends no publication and wakes no subscriber", async (kind) => {
  const { here, there } = await openPair(kind);
  const remote = recordHints(there, "prices");
  await there.close();
  await there.close();
  there.publish("prices", "1");
  here.publish("prices", "2");
  await nextIteration();
  await nextIteration();
  assert.deepEqual(remote.hints, []);
});

eachConnectedKind("reconnects after the server ends the connection, and wakes every subscriber once", async (kind) => {
  const { here, there } = await openPair(kind);
  const remote = recordHints(there, "prices");
  const quiet = recordHints(there, "quiet");
  const local = recordHints(here, "quiet");
  assert.ok((await kind.kill()) >= 2);
  await until(() => local.hints.length > 0 && quiet.hints.length > 0);
  assert.deepEqual([here.isConnected, there.isConnected], [true, true]);
  assert.deepEqual([remote.hints, quiet.hints, local.hints], [[null], [null], [null]]);
  here.publish("prices", "after");
  await until(() => remote.hints.includes("after"));
});

eachConnectedKind("a disconnected bus queues publications and sends them after the reconnect", async (kind) => {
  // The other bus stays connected, because it would miss the messages if it reconnected after this bus.
  const proxy = await openProxy(kind);
  const { here, there } = await openPair(kind, { here: { proxy } });
  const local = recordHints(here, "prices");
  const remote = recordHints(there, "prices");
  proxy.refuse();
  await until(() => !here.isConnected);
  for (let number = 1; number <= 1_000; number++) here.publish("prices", `${number}`);
  for (let number = 1; number <= 1_000; number++) here.publish(`topic-${number}`, "x".repeat(256));
  await nextIteration();
  await nextIteration();
  assert.deepEqual([local.hints, remote.hints], [["1000"], []]);
  proxy.restore();
  await until(() => remote.hints.includes("1000"));
  assert.ok(remote.hints.length <= 3, `${remote.hints.length} wake-ups`);
});

eachConnectedKind("a subscriber that reconnects after a publication is woken without a hint", async (kind) => {
  const proxies = [await openProxy(kind), await openProxy(kind)] as const;
  const { here, there } = await openPair(kind, { here: { proxy: proxies[0] }, there: { proxy: proxies[1] } });
  const { there: witness } = await openPair(kind);
  const remote = recordHints(there, "prices");
  const witnessHints = recordHints(witness, "prices");
  for (const proxy of proxies) proxy.refuse();
  await until(() => !here.isConnected && !there.isConnected);
  here.publish("prices", "1");
  proxies[0].restore();
  await until(() => witnessHints.hints.includes("1"));
  assert.deepEqual(remote.hints, []);
  proxies[1].restore();
  await until(() => remote.hints.length > 0);
  assert.deepEqual(remote.hints, [null]);
});

eachConnectedKind(
  "resends a message if the connection is lost before the server receives the message",
  async (kind) => {
    const proxy = await openProxy(kind);
    const clock = new FakeClock();
    const { here, there } = await openPair(kind, { here: { proxy, clock } });
    const prices = recordHints(there, "prices");
    const volumes = recordHints(there, "volumes");
    proxy.blackhole();
    for (const topic of ["prices", "volumes"]) here.publish(topic, "1");
    await until(() => proxy.discardedChunks > 0);
    here.publish("prices", "2");
    proxy.restore();
    await until(() => !here.isConnected);
    await advanceUntilConnected(here, proxy, clock);
    await until(() => prices.hints.length > 0 && volumes.hints.length > 0);
    // The resent, older hint `1` of `prices` does not replace the newer hint `2`.
    assert.deepEqual([prices.hints, volumes.hints], [["2"], ["1"]]);
  },
);

eachConnectedKind("resends a message over a new connection if the server does not confirm it in time", async (kind) => {
  const proxy = await openProxy(kind);
  const clock = new FakeClock();
  const { here, there } = await openPair(kind, { here: { proxy, clock } });
  const remote = recordHints(there, "prices");
  proxy.blackhole();
  here.publish("prices", "1");
  await until(() => proxy.discardedChunks > 0);
  await clock.advance(1_500);
  assert.equal(here.isConnected, false);
  proxy.restore();
  await advanceUntilConnected(here, proxy, clock);
  await until(() => remote.hints.length > 0);
  assert.deepEqual(remote.hints, ["1"]);
});

eachConnectedKind("a bus that starts without a server connects when the server becomes available", async (kind) => {
  const proxy = await openProxy(kind);
  proxy.refuse();
  const bus = kind.open({ proxy });
  cleanups.push(() => bus.close());
  const subscribers = recordHints(bus, "prices");
  bus.publish("prices", "1");
  await until(() => subscribers.hints.length > 0);
  assert.equal(bus.isConnected, false);
  proxy.restore();
  await until(() => bus.isConnected && subscribers.hints.includes(null));
});

eachConnectedKind("the next ping detects an unresponsive server, and the bus reconnects", async (kind) => {
  const proxy = await openProxy(kind);
  const clock = new FakeClock();
  const { here } = await openPair(kind, { here: { proxy, clock } });
  const subscribers = recordHints(here, "prices");
  proxy.blackhole();
  await clock.advance(5_000);
  assert.equal(here.isConnected, true);
  await clock.advance(1_500);
  assert.equal(here.isConnected, false);
  proxy.restore();
  await advanceUntilConnected(here, proxy, clock);
  await nextIteration();
  assert.deepEqual(subscribers.hints, [null]);
});

eachConnectedKind(
  "connection attempts to an unresponsive server time out and close their connections",
  async (kind) => {
    const proxy = await openProxy(kind);
    proxy.blackhole();
    const clock = new FakeClock();
    const bus = kind.open({ proxy, clock });
    let connectionsMax = 0;
    while (proxy.accepted < 10) {
      await clock.advance(100);
      await pause(1, undefined, { signal: testSignal });
      connectionsMax = Math.max(connectionsMax, proxy.connections);
    }
    assert.ok(connectionsMax <= 4, `${connectionsMax} simultaneous connections`);
    assert.equal(bus.isConnected, false);
    const closing = bus.close();
    await clock.until(closing);
    await until(() => proxy.connections === 0);
  },
);

eachConnectedKind("ignores malformed messages on the channel", async (kind) => {
  const { here, there } = await openPair(kind);
  const remote = recordHints(there, "prices");
  const texts = [
    "",
    "{",
    "null",
    "7",
    "[]",
    '{"topic":"prices"}',
    '["2","x","prices","other format"]',
    '["1","x",7,"topic"]',
    '["1","x","prices",7]',
    JSON.stringify(["1", "x", "prices", "y".repeat(257)]),
  ];
  for (const text of texts) await kind.inject(text);
  here.publish("prices", "good");
  await until(() => remote.hints.length > 0);
  assert.deepEqual(remote.hints, ["good"]);
});
