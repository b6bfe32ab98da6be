import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { waitUntil } from "../../../../test/support/asserts/wait-until.ts";
import { MemoryEventLog } from "../../../../test/support/streaming/memory-event-log.ts";
import { openStreamServer, type StreamReader } from "../../../../test/support/streaming/stream-server.ts";
import { EVENT_TYPES } from "../../../event-log/index.ts";

const CLIENTS = [
  { query: "", matches: () => true },
  { query: "&events=whale_alert", matches: (event: { type: string }) => event.type === "whale_alert" },
  { query: "&market_ids=alpha/m1", matches: (event: { marketId: string | null }) => event.marketId === "m1" },
] as const;

/** A client that reconnects, and the events that it has received on all its connections. */
interface Subscriber {
  reader: StreamReader | null;
  readonly received: number[];
  lastEventId: string;
}

function disconnect(subscriber: Subscriber): void {
  const { reader } = subscriber;
  if (reader === null) return;
  reader.socket.removeAllListeners("data");
  reader.socket.destroy();
  subscriber.received.push(...reader.ids);
  if (reader.lastEventId !== "") subscriber.lastEventId = reader.lastEventId;
  subscriber.reader = null;
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("append" as const),
      count: fc.integer({ min: 1, max: 40 }),
      gap: fc.integer({ min: 0, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("disconnect" as const), client: fc.nat(CLIENTS.length - 1) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("connect" as const), client: fc.nat(CLIENTS.length - 1) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("turns" as const), count: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("outage" as const) }) },
);

test("for any order of events, disconnections, resumes and restarts, each client gets every event once and in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 40 }),
      fc.integer({ min: 1, max: 60 }),
      async (steps, eventsInMemoryMax) => {
        const log = new MemoryEventLog();
        let server = await openStreamServer({ log, eventsInMemoryMax });
        const subscribers: Subscriber[] = CLIENTS.map(() => ({ reader: null, received: [], lastEventId: "0" }));
        const connect = (index: number) => {
          const subscriber = subscribers[index] as Subscriber;
          subscriber.reader ??= server.request(`/v1/stream?last_event_id=0${CLIENTS[index]?.query}`, {
            "last-event-id": subscriber.lastEventId,
            authorization: `Bearer k${Math.random()}`,
          });
        };
        let draw = 0;
        for (const action of steps) {
          if (action.kind === "append")
            for (let index = 0; index < action.count; index++) {
              draw += 1;
              log.append({
                type: EVENT_TYPES[draw % EVENT_TYPES.length],
                marketId: [null, "m1", "m2"][draw % 3],
                gap: index === 0 ? action.gap : 0,
              });
            }
          else if (action.kind === "disconnect") disconnect(subscribers[action.client] as Subscriber);
          else if (action.kind === "connect") connect(action.client);
          else if (action.kind === "turns") for (let turn = 0; turn < action.count; turn++) await server.clock.settle();
          else if (action.kind === "outage") {
            log.isAvailable = false;
            await server.clock.advance(1_500);
            log.isAvailable = true;
            await server.clock.advance(1_500);
          } else {
            for (const subscriber of subscribers) disconnect(subscriber);
            await server.close();
            server = await openStreamServer({ log, eventsInMemoryMax });
          }
        }
        for (const [index] of CLIENTS.entries()) connect(index);
        const expected = CLIENTS.map(({ matches }) => log.events.filter(matches).map(({ id }) => id));
        const receivedBy = (index: number) => [
          ...(subscribers[index]?.received ?? []),
          ...(subscribers[index]?.reader?.ids ?? []),
        ];
        await server.clock.advance(3_000);
        await waitUntil(() => expected.every((ids, index) => receivedBy(index).length >= ids.length));
        await server.clock.settle();
        assert.deepEqual(
          CLIENTS.map((_, index) => receivedBy(index)),
          expected,
        );
        await server.close();
      },
    ),
    { numRuns: 40 },
  );
});

test("the header takes precedence over the parameter, because an EventSource keeps its URL", async () => {
  const { open, log } = await openStreamServer();
  for (let count = 0; count < 5; count++) log.append();
  const reader = await open("?last_event_id=1", { "last-event-id": "3" });
  await waitUntil(() => reader.events.length === 2);
  assert.deepEqual(reader.ids, [4, 5]);
});

test("without a position, a stream begins with the next event", async () => {
  const { open, log } = await openStreamServer();
  log.append();
  const first = await open("?last_event_id=0");
  await waitUntil(() => first.events.length === 1);
  const second = await open();
  log.append();
  await waitUntil(() => first.events.length === 2 && second.events.length === 1);
  assert.deepEqual(second.ids, [2]);
});

test("a client that connects before or during the first read of the log gets every later event", async () => {
  const log = new MemoryEventLog();
  log.append();
  log.isAvailable = false;
  const { open, clock } = await openStreamServer({ log });
  const before = await open();
  log.isAvailable = true;
  let release = () => {};
  log.hold = new Promise((resolve) => {
    release = resolve;
  });
  await clock.advance(1_000);
  const during = await open();
  log.append();
  log.hold = null;
  release();
  await waitUntil(() => before.events.length + during.events.length === 2);
  assert.deepEqual([before.ids, during.ids], [[2], [2]]);
});

test("reset: if the events after a position were deleted, the stream continues with the oldest event", async () => {
  const { open, log } = await openStreamServer({ eventsInMemoryMax: 2 });
  for (let count = 0; count < 10; count++) log.append();
  log.dropThrough(6);
  const reader = await open("?last_event_id=3");
  await waitUntil(() => reader.events.length === 5);
  assert.deepEqual(
    reader.events.map(({ id, event }) => `${id} ${event}`),
    ["6 reset", "7 price_shift", "8 price_shift", "9 price_shift", "10 price_shift"],
  );
  assert.deepEqual(JSON.parse(reader.events[0]?.data ?? ""), { id: "6", type: "reset" });
});

test("reset: if the events after a position were deleted before the server started, the stream continues with the oldest event", async () => {
  const log = new MemoryEventLog();
  for (let count = 0; count < 8; count++) log.append();
  log.dropThrough(6);
  const { open } = await openStreamServer({ log });
  const reader = await open("?last_event_id=3");
  await waitUntil(() => reader.events.length === 3);
  assert.deepEqual(
    reader.events.map(({ id, event }) => `${id} ${event}`),
    ["6 reset", "7 price_shift", "8 price_shift"],
  );
});

test("reset: a live client gets a reset if events were deleted during an outage of the store", async () => {
  const { open, log, clock } = await openStreamServer();
  const reader = await open();
  log.append();
  await waitUntil(() => reader.events.length === 1);
  log.isAvailable = false;
  for (let count = 0; count < 3; count++) log.append();
  await clock.settle();
  log.dropThrough(3);
  log.isAvailable = true;
  await clock.advance(2_000);
  await waitUntil(() => reader.events.length === 3);
  assert.deepEqual(
    reader.events.map(({ id, event }) => `${id} ${event}`),
    ["1 price_shift", "3 reset", "4 price_shift"],
  );
});

test("reset: if the position was never assigned, the stream continues with the next event", async () => {
  const { open, log } = await openStreamServer();
  log.append();
  const readers = [await open("?last_event_id=2"), await open("?last_event_id=99999999999999999999")];
  await waitUntil(() => readers.every(({ events }) => events.length === 1));
  log.append();
  await waitUntil(() => readers.every(({ events }) => events.length === 2));
  for (const { events } of readers)
    assert.deepEqual(
      events.map(({ id, event }) => `${id} ${event}`),
      ["1 reset", "2 price_shift"],
    );
});

test("a client whose position is ahead of its new process gets neither a reset nor a repeated event", async () => {
  const { open, log, clock } = await openStreamServer();
  const control = await open();
  let release = () => {};
  log.hold = new Promise((resolve) => {
    release = resolve;
  });
  for (let count = 0; count < 3; count++) log.append();
  const ahead = await open("?last_event_id=2");
  await clock.settle();
  log.hold = null;
  release();
  await waitUntil(() => control.events.length === 3 && ahead.events.length > 0);
  assert.deepEqual(
    ahead.events.map(({ id, event }) => `${id} ${event}`),
    ["3 price_shift"],
  );
});

test("a client that resumes reads only the events of its types and markets from the log", async () => {
  const { open, log, clock } = await openStreamServer({ eventsInMemoryMax: 1 });
  for (let count = 0; count < 300; count++) log.append({ type: "price_shift", marketId: "m1" });
  const expected = log.append({ type: "whale_alert", marketId: "m2" });
  log.append();
  await clock.settle();
  for (const filter of ["events=whale_alert", "market_ids=alpha/m2"]) {
    const earlierReads = log.reads;
    const reader = await open(`?${filter}&last_event_id=0`);
    await waitUntil(() => reader.events.length === 1);
    assert.deepEqual([reader.ids, log.reads - earlierReads], [[expected.id], 1], filter);
  }
});

test("at most 4 reads of the log run at once for clients with old positions", async () => {
  const { open, log } = await openStreamServer({ eventsInMemoryMax: 1, limits: { perKey: 100, perAddress: 100 } });
  for (let count = 0; count < 300; count++) log.append();
  const readers = [await open("?last_event_id=299")];
  await waitUntil(() => readers[0]?.events.length === 1);
  log.concurrentReadsMax = 0;
  let release = () => {};
  log.hold = new Promise((resolve) => {
    release = resolve;
  });
  for (let count = 0; count < 20; count++) readers.push(await open("?last_event_id=0"));
  log.hold = null;
  release();
  await waitUntil(() => readers.slice(1).every(({ events }) => events.length === 300));
  assert.equal(log.concurrentReadsMax, 4);
});
