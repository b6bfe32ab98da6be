import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { SAMPLE_AT, sampleMarket } from "../../../test/support/markets/market-samples.ts";
import { recordingLog } from "../../../test/support/test-app.ts";
import { type BoardMarket, MarketBoard } from "../../board/index.ts";
import { NO_STORE_COUNTERS } from "../store-writer.ts";
import { connectIngest, type IngestThread } from "./connect-ingest.ts";
import type { FromIngestThread, ToIngestThread } from "./messages.ts";

/** A thread that sends what the test tells it to send. */
interface ScriptedThread {
  readonly received: ToIngestThread["kind"][];
  isTerminated: boolean;
  send(message: FromIngestThread<null>): void;
  end(): void;
}

/** Connects scripted threads, of which the first has restored its board. */
async function openConnection() {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const { log, lines } = recordingLog();
  const threads: ScriptedThread[] = [];
  const spawn = (): IngestThread => {
    const ended = Promise.withResolvers<unknown>();
    let listener = (_message: unknown) => {};
    const thread: ScriptedThread = {
      received: [],
      isTerminated: false,
      send: (message) => listener(message),
      end: () => ended.resolve(new Error("ended")),
    };
    threads.push(thread);
    return {
      port: {
        postMessage: (message) => thread.received.push((message as ToIngestThread).kind),
        on(_event, added) {
          listener = added;
        },
      },
      ended: ended.promise,
      async terminate() {
        thread.isTerminated = true;
        ended.resolve(new Error("terminated"));
      },
    };
  };
  const connection = connectIngest<null>({ board, clock, log, spawn });
  const restored = connection.restore();
  const current = (): ScriptedThread => {
    const thread = threads.at(-1);
    assert.ok(thread !== undefined);
    return thread;
  };
  await clock.settle();
  current().send({ kind: "restored", markets: 0 });
  assert.equal(await restored, 0);
  const sendStatus = (isSettled = false) =>
    current().send({
      kind: "status",
      status: { venues: {}, isSettled, counters: NO_STORE_COUNTERS, failingJobs: [], figures: null },
    });
  const sendMarket = (market: BoardMarket, thread = current()) => {
    const batch = { removed: [], events: [], quotes: new Float64Array(0), quoteCount: 0, mustAcknowledge: false };
    thread.send({ kind: "board", batch: { ...batch, markets: [market] } });
  };
  /** Runs the thread for `ms`, with a status every 10 seconds. */
  const run = async (ms: number) => {
    for (let leftMs = ms; leftMs > 0; leftMs -= 10_000) {
      sendStatus();
      await clock.advance(Math.min(10_000, leftMs));
    }
  };
  /** Ends the thread, waits for the next one and returns the length of the pause. */
  const replace = async (): Promise<number | null> => {
    current().end();
    await clock.settle();
    const pauseMs = clock.nextInMs;
    await clock.advance(pauseMs ?? 0);
    return pauseMs;
  };
  return { clock, board, lines, threads, connection, current, sendStatus, sendMarket, run, replace };
}

test("the pause before a replacement grows until a thread has run for a minute", async () => {
  const { run, replace } = await openConnection();
  const pauses: (number | null)[] = [];
  for (const runMs of [0, 0, 59_999, 60_000, 0]) {
    await run(runMs);
    pauses.push(await replace());
  }
  assert.deepEqual(pauses, [250, 500, 1_000, 250, 500]);
});

test("a thread that sends no status for 30 s is replaced, also if it has not sent any", async () => {
  const { clock, threads, sendStatus } = await openConnection();
  await clock.advance(29_999);
  assert.equal(threads[0]?.isTerminated, false);
  await clock.advance(1);
  assert.equal(threads[0]?.isTerminated, true);
  await clock.advance(250);
  assert.equal(threads.length, 2);
  await clock.advance(29_000);
  sendStatus();
  await clock.advance(29_999);
  assert.equal(threads[1]?.isTerminated, false);
  await clock.advance(1);
  assert.equal(threads[1]?.isTerminated, true);
});

test("a thread that has ended is not reported as one that does not respond", async () => {
  const { lines, run, replace } = await openConnection();
  await replace();
  await run(60_000);
  assert.deepEqual(
    lines.map(({ message }) => message),
    ["the ingest thread ended and will be replaced"],
  );
});

test("messages that arrive from a thread after its end are ignored", async () => {
  const { board, current, sendMarket, replace } = await openConnection();
  const ended = current();
  await replace();
  const { market } = new MarketBoard(() => SAMPLE_AT).apply(sampleMarket("m"), SAMPLE_AT);
  sendMarket(market, ended);
  assert.equal(board.size, 0);
  sendMarket(market);
  assert.equal(board.size, 1);
});

test("a thread that does not stop is terminated after 4 s, and one that stops is terminated at once", async () => {
  for (const [stopsAfterMs, endsAfterMs] of [
    [1_000, 1_000],
    [9_000, 4_000],
  ] as const) {
    const { clock, connection, current } = await openConnection();
    const startedAt = clock.monotonic();
    const thread = current();
    const stopping = connection.stop().then(() => clock.monotonic() - startedAt);
    assert.equal(thread.received.at(-1), "stop");
    clock.setTimeout(() => thread.send({ kind: "stopped" }), stopsAfterMs);
    await clock.advance(endsAfterMs - 1);
    assert.equal(thread.isTerminated, false);
    await clock.advance(1);
    assert.equal(thread.isTerminated, true);
    assert.equal(await stopping, endsAfterMs);
  }
});

test("a thread whose restore ends after the service was asked to stop does not read the venues", async () => {
  const { connection, current, replace } = await openConnection();
  connection.start();
  await replace();
  const stopping = connection.stop();
  current().send({ kind: "restored", markets: 0 });
  current().end();
  await stopping;
  assert.deepEqual(current().received, ["stop"]);
});

test("each new thread is started when it has restored its board", async () => {
  const { connection, current, replace } = await openConnection();
  connection.start();
  assert.deepEqual(current().received, ["start"]);
  await replace();
  assert.deepEqual(current().received, []);
  current().send({ kind: "restored", markets: 0 });
  assert.deepEqual(current().received, ["start"]);
});

test("markets that a new thread does not have are removed when its first sweeps have ended", async () => {
  const { board, sendStatus, sendMarket, replace } = await openConnection();
  const source = new MarketBoard(() => SAMPLE_AT);
  const kept = source.apply(sampleMarket("kept"), SAMPLE_AT).market;
  sendMarket(kept);
  sendMarket(source.apply(sampleMarket("unsaved"), SAMPLE_AT).market);
  sendStatus(true);
  assert.equal(board.size, 2);
  await replace();
  sendMarket(kept);
  sendStatus(false);
  assert.equal(board.size, 2);
  sendStatus(true);
  assert.deepEqual([board.size, board.find("alpha", "unsaved")], [1, null]);
});

test("the stored price of a new thread does not replace a later price of the thread before it", async () => {
  const { clock, board, sendMarket, replace } = await openConnection();
  const source = new MarketBoard(() => clock.now());
  const apply = (lastPrice: number) =>
    source.apply(sampleMarket("m", { quote: { lastPrice, receivedAt: clock.now() } }), clock.now()).market;
  const stored = apply(0.2);
  await clock.advance(100);
  sendMarket(apply(0.3));
  await replace();
  sendMarket(stored);
  assert.equal(board.find("alpha", "m")?.quote.lastPrice, 0.3);
});

test("a call fails when its thread ends, and while no thread runs", async () => {
  const { clock, connection, current } = await openConnection();
  const pending = assert.rejects(connection.call("lookUp", ["alpha", "m"]), { failure: "network", retryable: true });
  assert.deepEqual(current().received, ["call"]);
  current().end();
  await clock.settle();
  await pending;
  await assert.rejects(connection.call("lookUp", ["alpha", "m"]), { failure: "network", retryable: true });
});

test("a thread that sent its last status more than 5 s ago is not healthy", async () => {
  const { clock, connection, sendStatus } = await openConnection();
  sendStatus();
  await clock.advance(5_000);
  assert.deepEqual([connection.isReporting, connection.statusAgeMs], [true, 5_000]);
  await clock.advance(1);
  assert.equal(connection.isReporting, false);
});

test("a thread that has replaced another also gets time for its last writes", async () => {
  const { clock, connection, current, replace } = await openConnection();
  await replace();
  const thread = current();
  const stopping = connection.stop();
  await clock.advance(1_000);
  assert.equal(thread.isTerminated, false);
  thread.send({ kind: "stopped" });
  await clock.settle();
  assert.equal(thread.isTerminated, true);
  await stopping;
});
