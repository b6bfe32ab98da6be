import { afterEach } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { createInProcessBus } from "../../../src/adapters/bus/in-process-bus.ts";
import { MarketBoard } from "../../../src/board/index.ts";
import { createEventLog } from "../../../src/event-log/index.ts";
import {
  createIngest,
  createRemoteIngest,
  type IngestThread,
  serveIngest,
  VenueHealth,
} from "../../../src/ingest/index.ts";
import type { Database } from "../../../src/ports/database.ts";
import { FakeClock } from "../fake-clock.ts";
import { SAMPLE_AT } from "../markets/market-samples.ts";
import { quietLog } from "../quiet-log.ts";
import { ScriptedVenue } from "./scripted-venue.ts";

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

/**
 * Connects an ingest as two threads do, until the end of the test. Both ends run in this thread, and all messages pass
 * through ports. The ingest of one scripted venue, "alpha", has a real store and a fake clock.
 */
export function openThreadedIngest(database: Database) {
  const clock = new FakeClock(SAMPLE_AT);
  const board = new MarketBoard(() => clock.now());
  const venue = new ScriptedVenue("alpha", clock);
  const createVenues = () => [{ adapter: venue, health: new VenueHealth(clock, venue.profile) }];
  const shared = { database, clock, log: quietLog };
  const threads: { kill(): Promise<void>; hang(): void }[] = [];
  const observer = { starts: 0, stops: 0 };

  const spawn = (): IngestThread => {
    const { port1, port2 } = new MessageChannel();
    const threadBoard = new MarketBoard(() => clock.now());
    const eventLog = createEventLog({ database, bus: createInProcessBus(quietLog) });
    const ingest = createIngest({
      ...shared,
      venues: createVenues(),
      board: threadBoard,
      eventLog,
      eventDays: 7,
      isServedElsewhere: true,
    });
    const ended = Promise.withResolvers<unknown>();
    // The messages of a thread arrive before its end is known.
    const end = (reason: unknown) => {
      port2.once("close", () => ended.resolve(reason));
      port1.close();
    };
    let isHung = false;
    threads.push({
      /** Sends no further message, to simulate an endless loop. */
      hang() {
        isHung = true;
      },
      /** Ends the thread without stopping the ingest first, to simulate a crash. */
      async kill() {
        end(new Error("killed"));
        await ingest.stop();
      },
    });
    void serveIngest({
      port: {
        postMessage(message, transfer) {
          if (!isHung) port1.postMessage(message, transfer);
        },
        on: (event, listener) => port1.on(event, listener),
      },
      board: threadBoard,
      ingest,
      clock,
      observer: {
        get figures() {
          return { starts: observer.starts };
        },
        start() {
          observer.starts += 1;
        },
        async stop() {
          observer.stops += 1;
        },
      },
    }).then(() => end(new Error("stopped")));
    const terminate = async () => {
      if (!isHung) return;
      end(new Error("terminated"));
      await ingest.stop();
    };
    return { port: port2, ended: ended.promise, terminate };
  };
  const ingest = createRemoteIngest<{ starts: number }>({ ...shared, venues: createVenues(), board, spawn });
  /**
   * Waits for a condition, which messages between the threads and a real store fulfil. The clock advances in small steps,
   * because the store needs real time.
   */
  const until = async (isFulfilled: () => boolean, stepMs = 0.1) => {
    for (const endAt = performance.now() + 20_000; !isFulfilled(); await clock.advance(stepMs))
      if (performance.now() > endAt) throw new Error("the condition is not fulfilled");
  };
  /** Advances the clock until a promise settles, and returns its result. */
  const settle = async <Value>(promise: Promise<Value>, stepMs = 0.1): Promise<Value> => {
    let isSettled = false;
    promise
      .finally(() => {
        isSettled = true;
      })
      .catch(() => {});
    await until(() => isSettled, stepMs);
    return promise;
  };
  /** Stops the ingest. The fake clock does not advance, so that a slow store does not reach the time limit. */
  const stop = () => settle(ingest.stop(), 0);
  endings.push(stop);
  return { clock, board, venue, ingest, threads, observer, until, settle, stop };
}
