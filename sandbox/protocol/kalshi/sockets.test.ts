import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { findMarketsInPhase, firstOf, NOW, world } from "../../../test/support/sandbox/kalshi-world.ts";
import { serveExchanges } from "../../serve.ts";
import type { FeedEvent } from "../../world/types.ts";
import { kalshiExchange, kalshiTicker } from "./index.ts";

let now = NOW;
/** Sends an event to the exchange, as the world's feed does. */
let publish: (event: FeedEvent) => void = () => {};
let onUnsubscribed = () => {};
let subscriberCount = 0;
const feed = {
  subscribe(_venue: string, listener: (event: FeedEvent) => void) {
    subscriberCount += 1;
    publish = listener;
    return () => {
      subscriberCount -= 1;
      onUnsubscribed();
    };
  },
  close() {},
};

let served: Awaited<ReturnType<typeof serveExchanges>>;
let url = "";
before(async () => {
  const exchange = kalshiExchange({ world, feed, now: () => now, enforceLimits: false });
  served = await serveExchanges(exchange, { host: "127.0.0.1", firstPort: 0 });
  url = served.urls.kalshi?.ws ?? "";
});
after(() => served.close());

/** The fields of all message types; a missing field is `undefined` at run time. */
interface Message {
  readonly type: string;
  readonly seq: number;
  readonly msg: {
    readonly code: number;
    readonly channel: string;
    readonly event_type?: string;
    readonly side: "yes" | "no";
    readonly price_dollars: string;
    readonly delta_fp: string;
    readonly sid: number;
    readonly yes_dollars_fp?: readonly (readonly [string, string])[];
    readonly no_dollars_fp?: readonly (readonly [string, string])[];
  };
}

/** Opens a signed socket; `next` returns the received messages in order. */
async function openSocket() {
  const headers = {
    "kalshi-access-key": "any",
    "kalshi-access-timestamp": "1795229999123",
    "kalshi-access-signature": Buffer.alloc(256, 7).toString("base64"),
  };
  const socket = new WebSocket(url, { headers });
  const queue: Message[] = [];
  let wake = () => {};
  socket.on("message", (data) => {
    queue.push(JSON.parse(data.toString()));
    wake();
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  return {
    send: (message: object) => socket.send(JSON.stringify(message)),
    async next(): Promise<Message> {
      for (;;) {
        const message = queue.shift();
        if (message !== undefined) return message;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    close: () => new Promise((resolve) => socket.once("close", resolve).close()),
  };
}

test("401: rejects an unsigned handshake and a handshake with an invalid signature", async () => {
  for (const headers of [
    {},
    { "kalshi-access-key": "any", "kalshi-access-timestamp": "1", "kalshi-access-signature": "?" },
  ]) {
    const socket = new WebSocket(url, { headers });
    const error = await new Promise<Error>((resolve) => socket.once("error", resolve));
    assert.match(error.message, /401/);
  }
});

test("a book built from the snapshot and the numbered deltas equals the world's book", async () => {
  const socket = await openSocket();
  const market = firstOf(findMarketsInPhase("active").filter((item) => Number.isFinite(world.nextChangeAt(item, NOW))));
  const ticker = kalshiTicker(market);
  socket.send({ id: 1, cmd: "subscribe", params: { channels: ["orderbook_delta"], market_tickers: [ticker] } });
  assert.equal((await socket.next()).type, "subscribed");
  const snapshot = await socket.next();
  assert.equal(snapshot.type, "orderbook_snapshot");
  const ladders: Record<string, Map<string, number>> = {
    yes: new Map(snapshot.msg.yes_dollars_fp?.map(([price, size]) => [price, Number(size)])),
    no: new Map(snapshot.msg.no_dollars_fp?.map(([price, size]) => [price, Number(size)])),
  };
  let { seq } = snapshot;
  for (let change = 0; change < 20; change++) {
    now = world.nextChangeAt(market, now);
    if (!Number.isFinite(now)) break;
    publish({ kind: "book", market, at: now });
  }
  const lastChangeAt = now;
  now = NOW;
  socket.send({ id: 2, cmd: "list_subscriptions" });
  for (let message = await socket.next(); message.type !== "ok"; message = await socket.next()) {
    assert.equal(message.seq, ++seq);
    const { side, price_dollars, delta_fp } = message.msg;
    const size = (ladders[side]?.get(price_dollars) ?? 0) + Number(delta_fp);
    if (size === 0) ladders[side]?.delete(price_dollars);
    else ladders[side]?.set(price_dollars, size);
  }
  const { bids, asks } = world.book(market, lastChangeAt);
  const levels = (side: Map<string, number> | undefined) =>
    new Map([...(side ?? [])].map(([price, size]) => [Number(price), size]));
  assert.deepEqual(levels(ladders.yes), new Map(bids.map(({ price, size }) => [price, size])));
  assert.deepEqual(
    levels(ladders.no),
    new Map(asks.map(({ price, size }) => [Math.round((1 - price) * 1e6) / 1e6, size])),
  );
  assert.ok(seq > snapshot.seq);
  await socket.close();
});

test("a repeated subscription gets another id, and the list of subscriptions contains both", async () => {
  const socket = await openSocket();
  const sids: number[] = [];
  for (const id of [1, 2]) {
    socket.send({ id, cmd: "subscribe", params: { channels: ["trade"] } });
    const { type, msg } = await socket.next();
    assert.equal(type, "subscribed");
    sids.push(msg.sid);
  }
  assert.equal(new Set(sids).size, 2);
  socket.send({ id: 3, cmd: "list_subscriptions" });
  assert.deepEqual(
    (await socket.next()).msg,
    sids.map((sid) => ({ channel: "trade", sid })),
  );
  await socket.close();
});

test("the lifecycle channel publishes pauses and settlement, but not opening and closing", async () => {
  const socket = await openSocket();
  socket.send({ id: 1, cmd: "subscribe", params: { channels: ["market_lifecycle_v2"] } });
  assert.equal((await socket.next()).msg.channel, "market_lifecycle_v2");
  const market = firstOf(findMarketsInPhase("finalized"));
  const publishPhase = (from: string, to: string, at: number) =>
    publish({ kind: "lifecycle", market, from, to, at } as FeedEvent);
  publishPhase("pending", "active", market.openAt);
  publishPhase("active", "paused", market.openAt + 1);
  publishPhase("paused", "active", market.openAt + 2);
  publishPhase("determined", "disputed", market.determineAt + 1);
  publishPhase("closed", "determined", market.determineAt);
  publishPhase("disputed", "finalized", market.finalizeAt);
  publish({ kind: "listed", market: firstOf(market.event.markets), at: market.openAt });
  const types: string[] = [];
  for (let message = 0; message < 5; message++) {
    const { msg, seq } = await socket.next();
    assert.equal(seq, message + 1);
    types.push(msg.event_type ?? "");
  }
  assert.deepEqual(types, ["deactivated", "activated", "determined", "settled", "created"]);
  await socket.close();
});

test("rejected commands return the venue's error codes", async () => {
  const socket = await openSocket();
  const codeOf = async (message: object) => {
    socket.send(message);
    return (await socket.next()).msg.code;
  };
  assert.equal(await codeOf({ id: 1, cmd: "dance" }), 5);
  assert.equal(await codeOf({ id: 2, cmd: "subscribe", params: {} }), 3);
  assert.equal(await codeOf({ id: 3, cmd: "subscribe", params: { channels: ["ticker_v2"] } }), 8);
  assert.equal(await codeOf({ id: 4, cmd: "subscribe", params: { channels: ["orderbook_delta"] } }), 14);
  assert.equal(await codeOf({ id: 5, cmd: "unsubscribe", params: { sids: [99] } }), 7);
  assert.equal(await codeOf([]), 1);
  await socket.close();
});

test("the exchange subscribes to the feed only while a client is connected", async () => {
  const socket = await openSocket();
  assert.equal(subscriberCount, 1);
  const unsubscribed = new Promise<void>((resolve) => {
    onUnsubscribed = resolve;
  });
  await socket.close();
  await unsubscribed;
  assert.equal(subscriberCount, 0);
});
