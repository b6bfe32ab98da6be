import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
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

/** How one process gets to the server. */
interface Way {
  readonly clock?: Clock;
  readonly proxy?: TcpProxy;
}

/** One kind of bus: how a process opens it, and for those with a connection, how to end that one from the other side. */
interface Kind {
  readonly name: string;
  readonly skip: string | false;
  /** Every call is another process, as far as the bus can tell. */
  open(way?: Way): Bus;
  readonly server: { readonly host: string; readonly port: number } | null;
  /** Ends the connections of this test's buses at the server; gives how many. */
  kill(): Promise<number>;
  /** Sends a text past the bus. */
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

/** A test that waits in vain fails by itself, so that it does not hold up the whole run. */
const TEST_MS_MAX = 10_000;
/** Ends with the test that runs. */
let running = new AbortController().signal;

/** Waits for real servers to do their part, until the test's own end; no time is judged. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(2, undefined, { signal: running });
}

/** A subscriber that keeps what woke it. */
function listen(bus: Bus, topic: string) {
  const hints: (string | null)[] = [];
  const end = bus.subscribe(topic, (hint) => void hints.push(hint));
  return { hints, end };
}

/** Two processes with their buses connected and what reconnecting told behind them. */
async function openPair(kind: Kind, options: { here?: Way; there?: Way } = {}) {
  const here = kind.open(options.here);
  const there = kind.server === null ? here : kind.open(options.there);
  opened.push(
    () => here.close(),
    () => there.close(),
  );
  await until(() => here.isConnected && there.isConnected);
  await nextTurn();
  return { here, there };
}

/** Lets the clock run only while nothing is under way, so that a busy server does not look like one that is away. */
async function comeBack(bus: Bus, proxy: TcpProxy, clock: FakeClock): Promise<void> {
  while (!bus.isConnected) {
    if (proxy.connections === 0) await clock.advance(100);
    await pause(2, undefined, { signal: running });
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
      running = context.signal;
      await fn(kind);
    });
  }
}

const eachKind = (name: string, fn: (kind: Kind) => Promise<void>) => testKinds(KINDS, name, fn);
const eachLinkedKind = (name: string, fn: (kind: Kind) => Promise<void>) => testKinds(KINDS.slice(1), name, fn);

eachKind("a publication wakes the subscribers of its topic here and there, with its hint", async (kind) => {
  const { here, there } = await openPair(kind);
  const heard = [listen(here, "prices"), listen(there, "prices"), listen(there, "prices")];
  const other = listen(there, "other");
  here.publish("prices", "é 1");
  await until(() => heard.every(({ hints }) => hints.length > 0));
  assert.deepEqual(
    heard.map(({ hints }) => hints),
    [["é 1"], ["é 1"], ["é 1"]],
  );
  here.publish("other");
  await until(() => other.hints.length > 0);
  assert.deepEqual([other.hints, heard[1]?.hints], [[null], ["é 1"]]);
});

eachKind("a subscriber that has ended is not woken, and one that fails holds up nobody", async (kind) => {
  const { here, there } = await openPair(kind);
  const ended = listen(there, "prices");
  there.subscribe("prices", () => {
    throw new Error("a subscriber's own fault");
  });
  const last = listen(there, "prices");
  ended.end();
  ended.end();
  here.publish("prices", "1");
  await until(() => last.hints.length > 0);
  assert.deepEqual([ended.hints, last.hints], [[], ["1"]]);
});

eachKind("a burst wakes a few times, and the last publication is always among them", async (kind) => {
  const { here, there } = await openPair(kind);
  const near = listen(here, "prices");
  const far = listen(there, "prices");
  for (let number = 1; number <= BURST; number++) here.publish("prices", `${number}`);
  await until(() => far.hints.at(-1) === `${BURST}`);
  assert.deepEqual([near.hints.at(-1), near.hints.length], [`${BURST}`, 1]);
  assert.ok(far.hints.length <= 3, `${far.hints.length} wake-ups`);

  // Spread over many turns of the event loop: no more wakes than turns here, and no more messages than fit there.
  const turns = 100;
  near.hints.length = 0;
  far.hints.length = 0;
  for (let turn = 1; turn <= turns; turn++) {
    for (let number = 1; number <= BURST / turns; number++) here.publish("prices", `${turn}.${number}`);
    await nextTurn();
  }
  await until(() => far.hints.at(-1) === `${turns}.${BURST / turns}`);
  assert.ok(near.hints.length <= turns && far.hints.length <= turns, `${near.hints.length}, ${far.hints.length}`);
});

eachKind("what is out of bounds is left out and harms nothing", async (kind) => {
  const { here, there } = await openPair(kind);
  const far = listen(there, "prices");
  for (const topic of ["", "Ä", "a b", "x".repeat(65)]) here.publish(topic);
  here.publish("prices", "x".repeat(257));
  here.publish("prices", "y".repeat(256));
  await until(() => far.hints.length > 0);
  assert.deepEqual(far.hints, ["y".repeat(256)]);
});

eachKind("a closed bus takes publications in silence and wakes nobody", async (kind) => {
  const { here, there } = await openPair(kind);
  const far = listen(there, "prices");
  await there.close();
  await there.close();
  there.publish("prices", "1");
  here.publish("prices", "2");
  await nextTurn();
  await nextTurn();
  assert.deepEqual(far.hints, []);
});

eachLinkedKind("a connection that the server ends comes back, wakes once, and goes on", async (kind) => {
  const { here, there } = await openPair(kind);
  const far = listen(there, "prices");
  const quiet = listen(there, "quiet");
  const near = listen(here, "quiet");
  assert.ok((await kind.kill()) >= 2);
  await until(() => near.hints.length > 0 && quiet.hints.length > 0);
  assert.deepEqual([here.isConnected, there.isConnected], [true, true]);
  assert.deepEqual([far.hints, quiet.hints, near.hints], [[null], [null], [null]]);
  here.publish("prices", "after");
  await until(() => far.hints.includes("after"));
});

eachLinkedKind("while the server is away nothing throws; what was published is told at its return", async (kind) => {
  // Only one of them is cut off: the other, were it to come back later, would have missed what is told meanwhile.
  const proxy = await openProxy(kind);
  const { here, there } = await openPair(kind, { here: { proxy } });
  const near = listen(here, "prices");
  const far = listen(there, "prices");
  proxy.refuse();
  await until(() => !here.isConnected);
  for (let number = 1; number <= 1_000; number++) here.publish("prices", `${number}`);
  for (let number = 1; number <= 1_000; number++) here.publish(`topic-${number}`, "x".repeat(256));
  await nextTurn();
  await nextTurn();
  assert.deepEqual([near.hints, far.hints], [["1000"], []]);
  proxy.restore();
  await until(() => far.hints.includes("1000"));
  assert.ok(far.hints.length <= 3, `${far.hints.length} wake-ups`);
});

eachLinkedKind("whoever comes back only after it was told is woken all the same", async (kind) => {
  const proxies = [await openProxy(kind), await openProxy(kind)] as const;
  const { here, there } = await openPair(kind, { here: { proxy: proxies[0] }, there: { proxy: proxies[1] } });
  const { there: witness } = await openPair(kind);
  const far = listen(there, "prices");
  const told = listen(witness, "prices");
  for (const proxy of proxies) proxy.refuse();
  await until(() => !here.isConnected && !there.isConnected);
  here.publish("prices", "1");
  proxies[0].restore();
  await until(() => told.hints.includes("1"));
  assert.deepEqual(far.hints, []);
  proxies[1].restore();
  await until(() => far.hints.length > 0);
  assert.deepEqual(far.hints, [null]);
});

eachLinkedKind("what went into a connection that was lost before the server had it is told again", async (kind) => {
  const proxy = await openProxy(kind);
  const clock = new FakeClock();
  const { here, there } = await openPair(kind, { here: { proxy, clock } });
  const prices = listen(there, "prices");
  const volumes = listen(there, "volumes");
  proxy.blackhole();
  for (const topic of ["prices", "volumes"]) here.publish(topic, "1");
  await until(() => proxy.swallowed > 0);
  here.publish("prices", "2");
  proxy.restore();
  await until(() => !here.isConnected);
  await comeBack(here, proxy, clock);
  await until(() => prices.hints.length > 0 && volumes.hints.length > 0);
  // The older hint of a topic does not displace the newer one.
  assert.deepEqual([prices.hints, volumes.hints], [["2"], ["1"]]);
});

eachLinkedKind("what the server does not confirm in time is told again over a new connection", async (kind) => {
  const proxy = await openProxy(kind);
  const clock = new FakeClock();
  const { here, there } = await openPair(kind, { here: { proxy, clock } });
  const far = listen(there, "prices");
  proxy.blackhole();
  here.publish("prices", "1");
  await until(() => proxy.swallowed > 0);
  await clock.advance(1_500);
  assert.equal(here.isConnected, false);
  proxy.restore();
  await comeBack(here, proxy, clock);
  await until(() => far.hints.length > 0);
  assert.deepEqual(far.hints, ["1"]);
});

eachLinkedKind("a server that is away at the start is waited for", async (kind) => {
  const proxy = await openProxy(kind);
  proxy.refuse();
  const bus = kind.open({ proxy });
  opened.push(() => bus.close());
  const heard = listen(bus, "prices");
  bus.publish("prices", "1");
  await until(() => heard.hints.length > 0);
  assert.equal(bus.isConnected, false);
  proxy.restore();
  await until(() => bus.isConnected && heard.hints.includes(null));
});

eachLinkedKind(
  "a server that freezes without a word is noticed by the next ping, and left for a new try",
  async (kind) => {
    const proxy = await openProxy(kind);
    const clock = new FakeClock();
    const { here } = await openPair(kind, { here: { proxy, clock } });
    const heard = listen(here, "prices");
    proxy.blackhole();
    await clock.advance(5_000);
    assert.equal(here.isConnected, true);
    await clock.advance(1_500);
    assert.equal(here.isConnected, false);
    proxy.restore();
    await comeBack(here, proxy, clock);
    await nextTurn();
    assert.deepEqual(heard.hints, [null]);
  },
);

eachLinkedKind(
  "a server that takes connections and says nothing is given up, again and again, and leaves none behind",
  async (kind) => {
    const proxy = await openProxy(kind);
    proxy.blackhole();
    const clock = new FakeClock();
    const bus = kind.open({ proxy, clock });
    let most = 0;
    while (proxy.accepted < 10) {
      await clock.advance(100);
      await pause(1, undefined, { signal: running });
      most = Math.max(most, proxy.connections);
    }
    assert.ok(most <= 4, `${most} connections at a time`);
    assert.equal(bus.isConnected, false);
    const closed = bus.close();
    await clock.until(closed);
    await until(() => proxy.connections === 0);
  },
);

eachLinkedKind("what others write on the channel is not believed", async (kind) => {
  const { here, there } = await openPair(kind);
  const far = listen(there, "prices");
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
  await until(() => far.hints.length > 0);
  assert.deepEqual(far.hints, ["good"]);
});
