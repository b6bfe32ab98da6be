import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Server } from "socket.io";
import { WebSocketServer } from "ws";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import type { Clock } from "../../ports/clock.ts";
import { systemClock } from "../system/system-clock.ts";
import { createMessageQueue } from "./message-queue.ts";
import { createSocketIoClient } from "./socket-io-client.ts";
import { createWsSockets } from "./ws-socket.ts";

/** Creates a clock whose yields resume one at a time. Each call of `work` advances it by half a millisecond. */
function createSteppedClock() {
  const fakeClock = new FakeClock();
  const pendingYields: (() => void)[] = [];
  let monotonicMs = 0;
  const clock: Clock = {
    now: () => fakeClock.now(),
    monotonic: () => monotonicMs,
    setTimeout: (callback, delayMs) => fakeClock.setTimeout(callback, delayMs),
    sleep: (delayMs, signal) => fakeClock.sleep(delayMs, signal),
    yieldToEventLoop: () => new Promise((resolve) => pendingYields.push(resolve)),
  };
  const resumeNext = async () => {
    pendingYields.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, resumeNext, work: () => (monotonicMs += 0.5), countPendingYields: () => pendingYields.length };
}

/** Creates a queue and returns a function that queues the processing of a message of `bytes` bytes. */
function createTestQueue(
  clock: Clock,
  onError: (error: unknown) => void = throwError,
  options?: { readonly sliceMsMax?: number },
) {
  const queue = createMessageQueue(clock, options);
  return (work: () => void, bytes = 100) => queue({ bytes, work, onError });
}

const throwError = (error: unknown) => {
  throw error;
};

test("processes a burst in order, from the next event-loop iteration on, for 1 ms per iteration", async () => {
  const { clock, resumeNext, work } = createSteppedClock();
  const enqueue = createTestQueue(clock);
  const processed: number[] = [];
  for (let number = 0; number < 5; number++) {
    enqueue(() => {
      work();
      processed.push(number);
    });
  }
  assert.equal(processed.length, 0);
  await resumeNext();
  assert.deepEqual(processed, [0, 1]);
  enqueue(() => processed.push(5));
  await resumeNext();
  assert.deepEqual(processed, [0, 1, 2, 3]);
  await resumeNext();
  assert.deepEqual(processed, [0, 1, 2, 3, 4, 5]);
});

test("an empty queue does not yield to the event loop until a message is queued", async () => {
  const { clock, resumeNext, countPendingYields } = createSteppedClock();
  const enqueue = createTestQueue(clock);
  enqueue(() => {});
  await resumeNext();
  assert.equal(countPendingYields(), 0);
  enqueue(() => {});
  assert.equal(countPendingYields(), 1);
});

test("a slice can be longer than 1 ms", async () => {
  const { clock, resumeNext, work } = createSteppedClock();
  const enqueue = createTestQueue(clock, throwError, { sliceMsMax: 2 });
  let processedCount = 0;
  for (let number = 0; number < 5; number++) {
    enqueue(() => {
      work();
      processedCount += 1;
    });
  }
  await resumeNext();
  assert.equal(processedCount, 4);
});

test("while 10,000 messages are queued, each new message causes the processing of the oldest one", () => {
  const { clock } = createSteppedClock();
  const enqueue = createTestQueue(clock);
  const processed: number[] = [];
  for (let number = 0; number < 9_999; number++) enqueue(() => processed.push(number));
  assert.equal(processed.length, 0);
  enqueue(() => processed.push(9_999));
  assert.deepEqual(processed, [0]);
  enqueue(() => processed.push(10_000));
  assert.deepEqual(processed, [0, 1]);
});

test("messages of 16 MiB fill the queue", () => {
  const { clock } = createSteppedClock();
  const enqueue = createTestQueue(clock);
  const processed: string[] = [];
  enqueue(() => processed.push("small"), 1);
  enqueue(() => processed.push("medium"), 2 ** 20);
  enqueue(() => processed.push("large"), 15 * 2 ** 20 - 1);
  assert.deepEqual(processed, ["small"]);
  enqueue(() => processed.push("last"), 2 ** 20);
  assert.deepEqual(processed, ["small", "medium"]);
  enqueue(() => processed.push("larger than the queue"), 17 * 2 ** 20);
  assert.deepEqual(processed, ["small", "medium", "large", "last", "larger than the queue"]);
});

test("processes each of a million messages once and in order, also if messages are queued meanwhile", async () => {
  const { clock, resumeNext } = createSteppedClock();
  const enqueue = createTestQueue(clock);
  let nextNumber = 0;
  let isInOrder = true;
  const expect = (number: number) => () => {
    isInOrder &&= number === nextNumber;
    nextNumber += 1;
    if (number % 2 === 0 && number < 1_000) enqueue(() => {});
  };
  for (let number = 0; number < 1_000_000; number++) enqueue(expect(number));
  await resumeNext();
  assert.deepEqual([isInOrder, nextNumber], [true, 1_000_000]);
});

test("if the processing of a message throws, the error is reported, and the other messages are processed", async () => {
  const { clock, resumeNext } = createSteppedClock();
  const errors: unknown[] = [];
  const enqueue = createTestQueue(clock, (error) => errors.push(error));
  const processed: number[] = [];
  const failure = new Error("wrong");
  enqueue(() => {
    throw failure;
  });
  enqueue(() => processed.push(1));
  await resumeNext();
  assert.deepEqual([errors, processed], [[failure], [1]]);
});

test("the system clock resumes one yielded task per event-loop iteration", async () => {
  let iteration = 0;
  const countIterations = () => {
    iteration += 1;
    if (iteration < 20) setImmediate(countIterations);
  };
  setImmediate(countIterations);
  const iterations = await Promise.all(
    [1, 2, 3].map(async () => {
      await systemClock.yieldToEventLoop();
      return iteration;
    }),
  );
  assert.equal(new Set(iterations).size, 3);
});

test("a message whose processing throws closes its WebSocket, and the process continues", async () => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  server.on("connection", (peer) => peer.send("a message"));
  const closed = Promise.withResolvers<string>();
  createWsSockets(systemClock).connect(
    `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    { headers: {}, maxFrameBytes: 1_000, connectTimeoutMs: 60_000 },
    {
      onOpen: () => {},
      onMessage: (text) => {
        throw new RangeError(`wrong: ${text}`);
      },
      onPing: () => {},
      onClose: closed.resolve,
    },
  );
  assert.equal(await closed.promise, "a message could not be processed: wrong: a message");
  server.close();
});

test("an event whose processing throws closes its Socket.IO connection, and the process continues", async () => {
  const server = new Server();
  server.listen(0);
  const address = server.httpServer?.address() as AddressInfo;
  server.on("connection", (peer) => peer.emit("price", 1));
  const down = Promise.withResolvers<string>();
  const connection = createSocketIoClient(systemClock).connect(
    `http://127.0.0.1:${address.port}`,
    { namespace: "/", headers: {}, maxFrameBytes: 10_000, connectTimeoutMs: 60_000 },
    {
      onUp: () => {},
      onEvent: (event) => {
        throw new RangeError(`wrong: ${event}`);
      },
      onDown: down.resolve,
    },
  );
  assert.equal(await down.promise, "a message could not be processed: wrong: price");
  connection.close();
  await server.close();
});
