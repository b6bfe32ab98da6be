import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import fc from "fast-check";
import { io } from "socket.io-client";
import { WebSocket } from "ws";
import { serveFaultyExchanges } from "../../test/support/venues/faulty-exchanges.ts";
import { uniform } from "../world/random.ts";
import { FaultyChannel } from "./socket-faults.ts";
import { parseFaults } from "./switches.ts";
import { VenueFaults } from "./venue-faults.ts";

const { faults, urls } = await serveFaultyExchanges({ now: Date.UTC(2026, 10, 20) });

function openChannel(switches: unknown, seed = 5, isJson = () => true) {
  const faults = new VenueFaults("kalshi", (...keys) => uniform(seed, 1, ...keys));
  faults.replace(parseFaults(switches));
  const delivered: string[] = [];
  let isClosed = false;
  const channel = new FaultyChannel<string>(faults, {
    deliver: (message) => void delivered.push(message),
    close: () => {
      isClosed = true;
    },
    isJson,
    change: (message, replace) => String(replace(message)),
  });
  const sendAll = (count: number) => {
    for (let index = 0; index < count; index++) channel.send(String(index));
  };
  return { faults, channel, delivered, sendAll, isClosed: () => isClosed };
}

test("if all switches are off, delivers every message once and in order", () => {
  const { delivered, sendAll } = openChannel({});
  sendAll(30);
  assert.deepEqual(
    delivered,
    Array.from({ length: 30 }, (_, index) => String(index)),
  );
});

test("`socket_duplicate`, `socket_gap`, `socket_out_of_order` and `socket_garbage` change messages", () => {
  const duplicatingChannel = openChannel({ socket_duplicate: 1 });
  duplicatingChannel.sendAll(2);
  assert.deepEqual(duplicatingChannel.delivered, ["0", "0", "1", "1"]);
  const droppingChannel = openChannel({ socket_gap: 1 });
  droppingChannel.sendAll(5);
  assert.deepEqual(droppingChannel.delivered, []);
  const reorderingChannel = openChannel({ socket_out_of_order: 1 });
  reorderingChannel.sendAll(5);
  assert.deepEqual(reorderingChannel.delivered, ["1", "0", "3", "2"]);
  reorderingChannel.faults.replace({});
  assert.deepEqual(reorderingChannel.delivered, ["1", "0", "3", "2", "4"]);
  const corruptingChannel = openChannel({ socket_garbage: 1 });
  corruptingChannel.sendAll(1);
  assert.throws(() => JSON.parse(corruptingChannel.delivered[0] ?? ""));
});

test("`socket_drop` closes the socket; `socket_frozen` stops all messages until the switch is turned off", () => {
  const closingChannel = openChannel({ socket_drop: 1 });
  closingChannel.sendAll(1);
  assert.deepEqual([closingChannel.delivered, closingChannel.isClosed()], [[], true]);
  const frozenChannel = openChannel({ socket_frozen: 1 });
  frozenChannel.sendAll(50);
  assert.deepEqual(
    [frozenChannel.delivered, frozenChannel.channel.isFrozen, frozenChannel.isClosed()],
    [[], true, false],
  );
  frozenChannel.faults.replace({});
  frozenChannel.sendAll(1);
  assert.deepEqual([frozenChannel.delivered, frozenChannel.channel.isFrozen], [["0"], false]);
});

test("counts `socket_drop` and `socket_frozen` once per connection, and no `socket_garbage` for non-JSON messages", () => {
  const closingChannel = openChannel({ socket_drop: 1 });
  closingChannel.sendAll(30);
  assert.deepEqual(closingChannel.faults.counts, { socket_drop: 1 });
  const frozenChannel = openChannel({ socket_frozen: 1 });
  frozenChannel.sendAll(50);
  assert.deepEqual(frozenChannel.faults.counts, { socket_frozen: 1 });
  const nonJson = openChannel({ socket_garbage: 1 }, 5, () => false);
  nonJson.sendAll(3);
  assert.deepEqual([nonJson.delivered, nonJson.faults.counts], [["0", "1", "2"], {}]);
});

test("for any seed and rate, delivers each sent message at most twice and at most one position late", () => {
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(200), (seed, rate, count) => {
      const switches = { socket_duplicate: rate, socket_gap: rate, socket_out_of_order: rate };
      const { delivered, sendAll, faults } = openChannel(switches, seed);
      sendAll(count);
      faults.replace({});
      const repeated = openChannel(switches, seed);
      repeated.sendAll(count);
      repeated.faults.replace({});
      assert.deepEqual(repeated.delivered, delivered);
      const copies = new Map<number, number>();
      for (const message of delivered) copies.set(Number(message), (copies.get(Number(message)) ?? 0) + 1);
      for (const [message, copyCount] of copies) assert.ok(message < count && copyCount <= 2);
      for (const [index, message] of delivered.entries()) {
        const laterSentBefore = delivered.slice(0, index).filter((earlier) => Number(earlier) > Number(message));
        assert.ok(new Set(laterSentBefore).size <= 1);
      }
      assert.equal(copies.size, count - (faults.counts.socket_gap ?? 0));
    }),
  );
});

/** Sends a message and returns the first `count` messages received. */
async function readReplies(url: string | undefined, text: string, count: number): Promise<string[]> {
  const socket = new WebSocket(url ?? "");
  await once(socket, "open");
  const received: string[] = [];
  const allReceived = new Promise<void>((resolve) => {
    socket.on("message", (data) => {
      if (received.push(data.toString()) === count) resolve();
    });
  });
  socket.send(text);
  await allReceived;
  socket.terminate();
  return received;
}

test("venue WebSockets apply `socket_duplicate`, `socket_garbage` and `socket_drop`", async () => {
  faults.polymarket.replace(parseFaults({ socket_duplicate: 1 }));
  assert.deepEqual(await readReplies(urls.polymarket?.ws, "PING", 2), ["PONG", "PONG"]);
  faults.manifold.replace(parseFaults({ socket_garbage: 1 }));
  const [garbage] = await readReplies(urls.manifold?.ws, '{"type":"ping","txid":1}', 1);
  assert.throws(() => JSON.parse(garbage ?? ""));
  faults.manifold.replace(parseFaults({ socket_drop: 1 }));
  const socket = new WebSocket(urls.manifold?.ws ?? "");
  await once(socket, "open");
  socket.send('{"type":"ping","txid":1}');
  await once(socket, "close");
});

test("Socket.IO connections apply `socket_duplicate`, `crossed_book` and `socket_drop`", async () => {
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
  const received: [string, unknown][] = [];
  socket.onAny((event: string, payload: unknown) => received.push([event, payload]));
  const receiveBooks = async (count: number) => {
    received.length = 0;
    socket.emit("subscribe_market_prices", { marketSlugs: slugs, marketAddresses: [] });
    while (received.filter(([event]) => event === "orderbookUpdate").length < count)
      await new Promise((resolve) => socket.once("orderbookUpdate", resolve));
    return received.flatMap(([event, payload]) => (event === "orderbookUpdate" ? [payload] : []));
  };
  const [correct] = (await receiveBooks(1)) as {
    orderbook: { bids: { price: number }[]; asks: { price: number }[] };
  }[];
  faults.limitless.replace(parseFaults({ socket_duplicate: 1 }));
  assert.deepEqual(await receiveBooks(2), [correct, correct]);
  faults.limitless.replace(parseFaults({ crossed_book: 1 }));
  const [crossed] = (await receiveBooks(1)) as (typeof correct)[];
  assert.deepEqual(crossed?.orderbook.bids, correct?.orderbook.asks);
  faults.limitless.replace(parseFaults({ socket_drop: 1 }));
  const closed = new Promise((resolve) => socket.on("disconnect", resolve));
  // socket_drop is drawn every 20 messages.
  for (let count = 0; count < 20; count++)
    socket.emit("subscribe_market_prices", { marketSlugs: slugs, marketAddresses: [] });
  await closed;
  socket.disconnect();
});
