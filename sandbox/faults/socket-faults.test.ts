import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, beforeEach, test } from "node:test";
import fc from "fast-check";
import { io } from "socket.io-client";
import { WebSocket } from "ws";
import type { ExchangeContext } from "../protocol/exchange.ts";
import { limitlessExchange } from "../protocol/limitless/index.ts";
import { manifoldExchange } from "../protocol/manifold/index.ts";
import { polymarketExchange } from "../protocol/polymarket/index.ts";
import { type ServiceUrls, serveExchanges } from "../serve.ts";
import { createWorld } from "../world/index.ts";
import { uniform } from "../world/random.ts";
import { FaultyLane } from "./socket-faults.ts";
import { parseFaults } from "./switches.ts";
import { createFaults, VenueFaults } from "./venue-faults.ts";

const NOW = Date.UTC(2026, 10, 20);

function openLane(switches: unknown, seed = 5, isJson = () => true) {
  const faults = new VenueFaults("kalshi", (...keys) => uniform(seed, 1, ...keys));
  faults.replace(parseFaults(switches));
  const out: string[] = [];
  let isClosed = false;
  const lane = new FaultyLane<string>(faults, {
    deliver: (message) => void out.push(message),
    close: () => {
      isClosed = true;
    },
    isJson,
    change: (message, replace) => String(replace(message)),
  });
  const sendAll = (count: number) => {
    for (let index = 0; index < count; index++) lane.send(String(index));
  };
  return { faults, lane, out, sendAll, isClosed: () => isClosed };
}

test("without a switch every message passes once, in order", () => {
  const { out, sendAll } = openLane({});
  sendAll(30);
  assert.deepEqual(
    out,
    Array.from({ length: 30 }, (_, index) => String(index)),
  );
});

test("duplicates, lost, late and unreadable messages are what their switches say", () => {
  const twice = openLane({ socket_duplicate: 1 });
  twice.sendAll(2);
  assert.deepEqual(twice.out, ["0", "0", "1", "1"]);
  const lost = openLane({ socket_gap: 1 });
  lost.sendAll(5);
  assert.deepEqual(lost.out, []);
  const late = openLane({ socket_out_of_order: 1 });
  late.sendAll(5);
  assert.deepEqual(late.out, ["1", "0", "3", "2"]);
  late.faults.replace({});
  assert.deepEqual(late.out, ["1", "0", "3", "2", "4"]);
  const unreadable = openLane({ socket_garbage: 1 });
  unreadable.sendAll(1);
  assert.throws(() => JSON.parse(unreadable.out[0] ?? ""));
});

test("a dropped socket closes, a frozen one says nothing until the switch is off", () => {
  const dropped = openLane({ socket_drop: 1 });
  dropped.sendAll(1);
  assert.deepEqual([dropped.out, dropped.isClosed()], [[], true]);
  const frozen = openLane({ socket_frozen: 1 });
  frozen.sendAll(50);
  assert.deepEqual([frozen.out, frozen.lane.isFrozen, frozen.isClosed()], [[], true, false]);
  frozen.faults.replace({});
  frozen.sendAll(1);
  assert.deepEqual([frozen.out, frozen.lane.isFrozen], [["0"], false]);
});

test("what happened is what was spoilt: a connection ends and freezes once, and a word cannot become unreadable", () => {
  const dropped = openLane({ socket_drop: 1 });
  dropped.sendAll(30);
  assert.deepEqual(dropped.faults.happened, { socket_drop: 1 });
  const frozen = openLane({ socket_frozen: 1 });
  frozen.sendAll(50);
  assert.deepEqual(frozen.faults.happened, { socket_frozen: 1 });
  const words = openLane({ socket_garbage: 1 }, 5, () => false);
  words.sendAll(3);
  assert.deepEqual([words.out, words.faults.happened], [["0", "1", "2"], {}]);
});

test("whatever is drawn: no message comes from nowhere, more than twice, or further than one place late", () => {
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(200), (seed, rate, count) => {
      const switches = { socket_duplicate: rate, socket_gap: rate, socket_out_of_order: rate };
      const { out, sendAll, faults } = openLane(switches, seed);
      sendAll(count);
      faults.replace({});
      const again = openLane(switches, seed);
      again.sendAll(count);
      again.faults.replace({});
      assert.deepEqual(again.out, out);
      const times = new Map<number, number>();
      for (const message of out) times.set(Number(message), (times.get(Number(message)) ?? 0) + 1);
      for (const [message, sent] of times) assert.ok(message < count && sent <= 2);
      const late = out.flatMap((message, index) =>
        index > 0 && Number(message) < Number(out[index - 1]) ? [index] : [],
      );
      for (const index of late) assert.ok(Number(out[index]) < Number(out[index - 1]));
      assert.equal(times.size, count - (faults.happened.socket_gap ?? 0));
    }),
  );
});

const faults = createFaults((...keys) => uniform(3, 1, ...keys));
let urls: ServiceUrls;
let close: () => Promise<void>;
before(async () => {
  const world = createWorld({ seed: 4, genesis: NOW, speed: 60, marketCount: 30 });
  const feed = { subscribe: () => () => {}, close: () => {} };
  const context: ExchangeContext = { world, feed, faults, now: () => NOW, enforceLimits: false };
  const services = [polymarketExchange, limitlessExchange, manifoldExchange].flatMap((exchange) => exchange(context));
  ({ urls, close } = await serveExchanges(services, { host: "127.0.0.1", firstPort: 0 }));
});
after(() => close());
beforeEach(() => {
  for (const venue of Object.values(faults)) venue.replace({});
});

/** What a WebSocket says to a message, until it has said this many things. */
async function answersTo(url: string | undefined, text: string, count: number): Promise<string[]> {
  const socket = new WebSocket(url ?? "");
  await once(socket, "open");
  const heard: string[] = [];
  const enough = new Promise<void>((resolve) => {
    socket.on("message", (data) => {
      if (heard.push(data.toString()) === count) resolve();
    });
  });
  socket.send(text);
  await enough;
  socket.terminate();
  return heard;
}

test("the venues' own sockets pass through it: a word said twice, an acknowledgement with another clock, a socket closed", async () => {
  faults.polymarket.replace(parseFaults({ socket_duplicate: 1 }));
  assert.deepEqual(await answersTo(urls.polymarket?.ws, "PING", 2), ["PONG", "PONG"]);
  faults.manifold.replace(parseFaults({ socket_garbage: 1 }));
  const [garbage] = await answersTo(urls.manifold?.ws, '{"type":"ping","txid":1}', 1);
  assert.throws(() => JSON.parse(garbage ?? ""));
  faults.manifold.replace(parseFaults({ socket_drop: 1 }));
  const socket = new WebSocket(urls.manifold?.ws ?? "");
  await once(socket, "open");
  socket.send('{"type":"ping","txid":1}');
  await once(socket, "close");
});

test("Socket.IO passes through it too: events twice, false prices, and the socket closed", async () => {
  const { data } = (await (await fetch(`${urls.limitless?.rest}/markets/active?limit=25&tradeType=clob`)).json()) as {
    data: { slug: string; tradeType: string; markets?: { slug: string }[] }[];
  };
  const slugs = data.flatMap(({ slug, markets }) => markets?.map((child) => child.slug) ?? [slug]).slice(0, 1);
  const socket = io(`${urls.limitless?.ws}/markets`, {
    transports: ["websocket"],
    reconnection: false,
    forceNew: true,
  });
  await new Promise<void>((resolve) => socket.on("connect", resolve));
  const heard: [string, unknown][] = [];
  socket.onAny((event: string, payload: unknown) => heard.push([event, payload]));
  const books = async (count: number) => {
    heard.length = 0;
    socket.emit("subscribe_market_prices", { marketSlugs: slugs, marketAddresses: [] });
    while (heard.filter(([event]) => event === "orderbookUpdate").length < count)
      await new Promise((resolve) => socket.once("orderbookUpdate", resolve));
    return heard.flatMap(([event, payload]) => (event === "orderbookUpdate" ? [payload] : []));
  };
  const [right] = (await books(1)) as { orderbook: { bids: { price: number }[]; asks: { price: number }[] } }[];
  faults.limitless.replace(parseFaults({ socket_duplicate: 1 }));
  assert.deepEqual(await books(2), [right, right]);
  faults.limitless.replace(parseFaults({ crossed_book: 1 }));
  const [crossed] = (await books(1)) as (typeof right)[];
  assert.deepEqual(crossed?.orderbook.bids, right?.orderbook.asks);
  faults.limitless.replace(parseFaults({ socket_drop: 1 }));
  const closed = new Promise((resolve) => socket.on("disconnect", resolve));
  // Drawn again within the next twenty messages.
  for (let count = 0; count < 20; count++)
    socket.emit("subscribe_market_prices", { marketSlugs: slugs, marketAddresses: [] });
  await closed;
  socket.disconnect();
});
