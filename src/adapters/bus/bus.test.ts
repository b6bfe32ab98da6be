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

const BURST = 10_000;
const OWN_NAME = `test_${process.pid}_${Date.now().toString(36)}`;
const { TEST_DATABASE_URL, TEST_REDIS_URL } = process.env;

const opened: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const close of opened.reverse()) await close();
});

interface ConnectOptions {
  readonly clock?: Clock;
  readonly proxy?: TcpProxy;
}

/** A kind of bus: how to open it, and how to end its connections at the server. */
interface Kind {
  readonly name: string;
  readonly skip: string | false;
  /** Each opened bus behaves like another process. */
  open(options?: ConnectOptions): Bus;
  readonly server: { readonly host: string; readonly port: number } | null;
  /** Ends the connections of this test's buses at the server; returns their number. */
  kill(): Promise<number>;
  inject(text: string): Promise<void>;
}

function through(url: string, proxy: TcpProxy | undefined): string {
  if (proxy === undefined) return url;
  const address = new URL(url);
  address.hostname = "127.0.0.1";
  address.port = String(proxy.port);
  return address.href;
}

function serverOf(url: string | undefined, port: number) {
  if (url === undefined) return null;
  const address = new URL(url);
  return { host: address.hostname, port: Number(address.port || port) };
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
    server: null,
    kill: async () => 0,
    inject: async () => {},
  },
  {
    name: "postgres",
    skip: TEST_DATABASE_URL === undefined ? "TEST_DATABASE_URL is not set" : false,
    open: ({ clock = systemClock, proxy } = {}) =>
      openPostgresBus({
        ...{ url: through(TEST_DATABASE_URL ?? "", proxy), channel: OWN_NAME },
        ...{ clock, random: systemRandom, log: quietLog },
      }),
    server: serverOf(TEST_DATABASE_URL, 5_432),
    kill: () =>
      withPostgres(async (client) => {
        const { rowCount } = await client.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1",
          [OWN_NAME],
        );
        return rowCount ?? 0;
      }),
    inject: (text) =>
      withPostgres(async (client) => {
        await client.query("select pg_notify($1, $2)", [OWN_NAME, text]);
      }),
  },
  {
    name: "redis",
    skip: TEST_REDIS_URL === undefined ? "TEST_REDIS_URL is not set" : false,
    open: ({ clock = systemClock, proxy } = {}) =>
      openRedisBus({
        ...{ url: through(TEST_REDIS_URL ?? "", proxy), prefix: `${OWN_NAME}:` },
        ...{ clock, random: systemRandom, log: quietLog },
      }),
    server: serverOf(TEST_REDIS_URL, 6_379),
    kill: () =>
      withRedis(async (client) => {
        const list = String(await client.call("CLIENT", "LIST"));
        const ids = list
          .split("\n")
          .filter((line) => line.includes(`name=${OWN_NAME}:`))
          .flatMap((line) => /^id=(\d+)/.exec(line)?.[1] ?? []);
        for (const id of ids) await client.call("CLIENT", "KILL", "ID", id);
        return ids.length;
      }),
    inject: (text) =>
      withRedis(async (client) => {
        await client.publish(`${OWN_NAME}:bus`, text);
      }),
  },
];

/** Ends a test that waits for a condition that never becomes true. */
const TEST_MS_MAX = 10_000;
/** Aborts at the end of the current test. */
let testSignal = new AbortController().signal;

/** Polls a condition that depends on real servers. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(2, undefined, { signal: testSignal });
}

function listen(bus: Bus, topic: string) {
  const hints: (string | null)[] = [];
  const end = bus.subscribe(topic, (hint) => void hints.push(hint));
  return { hints, end };
}

/** Two connected buses, after the wake-ups of connecting. */
async function openPair(kind: Kind, options: { here?: ConnectOptions; there?: ConnectOptions } = {}) {
  const here = kind.open(options.here);
  const there = kind.server === null ? here : kind.open(options.there);
  opened.push(
    () => here.close(),
    () => there.close(),
  );
  await until(() => here.isConnected && there.isConnected);
  await nextIteration();
  return { here, there };
}

/** Advances the clock only while no connection attempt is running, so that a slow server does not cause time-outs. */
async function advanceUntilConnected(bus: Bus, proxy: TcpProxy, clock: FakeClock): Promise<void> {
  while (!bus.isConnected) {
    if (proxy.connections === 0) await clock.advance(100);
    await pause(2, undefined, { signal: testSignal });
  }
}

async function openProxy(kind: Kind): Promise<TcpProxy> {
  if (kind.server === null) throw new Error("this kind of bus has no server");
  const proxy = await startTcpProxy(kind.server);
  opened.push(() => proxy.close());
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

eachKind("a publication wakes the subscribers of its topic in both processes, with its hint", async (kind) => {
  const { here, there } = await openPair(kind);
  const subscribers = [listen(here, "prices"), listen(there, "prices"), listen(there, "prices")];
  const other = listen(there, "other");
  here.publish("prices", "é 1");
  await until(() => subscribers.every(({ hints }) => hints.length > 0));
  assert.deepEqual(
    subscribers.map(({ hints }) => hints),
    [["é 1"], ["é 1"], ["é 1"]],
  );
  here.publish("other");
  await until(() => other.hints.length > 0);
  assert.deepEqual([other.hints, subscribers[1]?.hints], [[null], ["é 1"]]);
});

eachKind("an unsubscribed function is not called, and a failing subscriber does not affect others", async (kind) => {
  const { here, there } = await openPair(kind);
  const ended = listen(there, "prices");
  there.subscribe("prices", () => {
    throw new Error("subscriber failed");
  });
  const last = listen(there, "prices");
  ended.end();
  ended.end();
  here.publish("prices", "1");
  await until(() => last.hints.length > 0);
  assert.deepEqual([ended.hints, last.hints], [[], ["1"]]);
});

eachKind("a burst causes few wake-ups, including one for the last publication", async (kind) => {
  const { here, there } = await openPair(kind);
  const local = listen(here, "prices");
  const remote = listen(there, "prices");
  for (let number = 1; number <= BURST; number++) here.publish("prices", `${number}`);
  await until(() => remote.hints.at(-1) === `${BURST}`);
  assert.deepEqual([local.hints.at(-1), local.hints.length], [`${BURST}`, 1]);
  assert.ok(remote.hints.length <= 3, `${remote.hints.length} wake-ups`);

  // Spread over many event-loop iterations, there is at most one wake-up per iteration.
  const iterations = 100;
  local.hints.length = 0;
  remote.hints.length = 0;
  for (let iteration = 1; iteration <= iterations; iteration++) {
    for (let number = 1; number <= BURST / iterations; number++) here.publish("prices", `${iteration}.${number}`);
    await nextIteration();
  }
  await until(() => remote.hints.at(-1) === `${iterations}.${BURST / iterations}`);
  assert.ok(
    local.hints.length <= iterations && remote.hints.length <= iterations,
    `${local.hints.length}, ${remote.hints.length}`,
  );
});

eachKind("drops publications that exceed the bounds", async (kind) => {
  const { here, there } = await openPair(kind);
  const remote = listen(there, "prices");
  for (const topic of ["", "Ä", "a b", "x".repeat(65)]) here.publish(topic);
  here.publish("prices", "x".repeat(257));
  here.publish("prices", "y".repeat(256));
  await until(() => remote.hints.length > 0);
  assert.deepEqual(remote.hints, ["y".repeat(256)]);
});

eachKind("a closed bus ignores publications and wakes no subscriber", async (kind) => {
  const { here, there } = await openPair(kind);
  const remote = listen(there, "prices");
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
  const remote = listen(there, "prices");
  const quiet = listen(there, "quiet");
  const local = listen(here, "quiet");
  assert.ok((await kind.kill()) >= 2);
  await until(() => local.hints.length > 0 && quiet.hints.length > 0);
  assert.deepEqual([here.isConnected, there.isConnected], [true, true]);
  assert.deepEqual([remote.hints, quiet.hints, local.hints], [[null], [null], [null]]);
  here.publish("prices", "after");
  await until(() => remote.hints.includes("after"));
});

eachConnectedKind("queues publications while disconnected and sends them after the reconnect", async (kind) => {
  // Only one bus is disconnected, because the other would miss messages if it reconnected later.
  const proxy = await openProxy(kind);
  const { here, there } = await openPair(kind, { here: { proxy } });
  const local = listen(here, "prices");
  const remote = listen(there, "prices");
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
  const remote = listen(there, "prices");
  const witnessed = listen(witness, "prices");
  for (const proxy of proxies) proxy.refuse();
  await until(() => !here.isConnected && !there.isConnected);
  here.publish("prices", "1");
  proxies[0].restore();
  await until(() => witnessed.hints.includes("1"));
  assert.deepEqual(remote.hints, []);
  proxies[1].restore();
  await until(() => remote.hints.length > 0);
  assert.deepEqual(remote.hints, [null]);
});

eachConnectedKind("sends a message again if its connection was lost before the server received it", async (kind) => {
  const proxy = await openProxy(kind);
  const clock = new FakeClock();
  const { here, there } = await openPair(kind, { here: { proxy, clock } });
  const prices = listen(there, "prices");
  const volumes = listen(there, "volumes");
  proxy.blackhole();
  for (const topic of ["prices", "volumes"]) here.publish(topic, "1");
  await until(() => proxy.discardedChunks > 0);
  here.publish("prices", "2");
  proxy.restore();
  await until(() => !here.isConnected);
  await advanceUntilConnected(here, proxy, clock);
  await until(() => prices.hints.length > 0 && volumes.hints.length > 0);
  // The older hint of a topic does not replace the newer one.
  assert.deepEqual([prices.hints, volumes.hints], [["2"], ["1"]]);
});

eachConnectedKind(
  "sends a message again over a new connection if the server does not confirm it in time",
  async (kind) => {
    const proxy = await openProxy(kind);
    const clock = new FakeClock();
    const { here, there } = await openPair(kind, { here: { proxy, clock } });
    const remote = listen(there, "prices");
    proxy.blackhole();
    here.publish("prices", "1");
    await until(() => proxy.discardedChunks > 0);
    await clock.advance(1_500);
    assert.equal(here.isConnected, false);
    proxy.restore();
    await advanceUntilConnected(here, proxy, clock);
    await until(() => remote.hints.length > 0);
    assert.deepEqual(remote.hints, ["1"]);
  },
);

eachConnectedKind("connects when the server becomes available after the start", async (kind) => {
  const proxy = await openProxy(kind);
  proxy.refuse();
  const bus = kind.open({ proxy });
  opened.push(() => bus.close());
  const subscribers = listen(bus, "prices");
  bus.publish("prices", "1");
  await until(() => subscribers.hints.length > 0);
  assert.equal(bus.isConnected, false);
  proxy.restore();
  await until(() => bus.isConnected && subscribers.hints.includes(null));
});

eachConnectedKind("detects an unresponsive server by the next ping and reconnects", async (kind) => {
  const proxy = await openProxy(kind);
  const clock = new FakeClock();
  const { here } = await openPair(kind, { here: { proxy, clock } });
  const subscribers = listen(here, "prices");
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
  "connection attempts to an unresponsive server time out and leave no connection open",
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
    const closed = bus.close();
    await clock.until(closed);
    await until(() => proxy.connections === 0);
  },
);

eachConnectedKind("ignores malformed messages on the channel", async (kind) => {
  const { here, there } = await openPair(kind);
  const remote = listen(there, "prices");
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
