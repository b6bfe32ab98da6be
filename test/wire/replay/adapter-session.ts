/** One real adapter with real network clients, connected to a loopback server. */
import { generateKeyPairSync } from "node:crypto";
import { createSocketIoClient } from "../../../src/adapters/network/socket-io-client.ts";
import { createUndiciHttp } from "../../../src/adapters/network/undici-http.ts";
import { createWsSockets } from "../../../src/adapters/network/ws-socket.ts";
import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { SocketIoOut } from "../../../src/ports/socket-io-out.ts";
import type { SocketOut } from "../../../src/ports/socket-out.ts";
import type { VenueAdapter } from "../../../src/ports/venue.ts";
import { loadVenue, VENUE_SERVICES } from "../../../src/venues/registry.ts";
import { quietLog } from "../../support/quiet-log.ts";
import { countDrops } from "../../support/venues/count-drops.ts";
import type { Findings } from "../findings.ts";
import { type Loopback, openLoopback, type Respond } from "./loopback.ts";

const FRAME_MS_MAX = 20_000;
/** Path below which a venue serves its REST API, for venues that sign or name the path. */
const BASE_PATHS: Readonly<Record<string, string>> = { kalshi: "/trade-api/v2", manifold: "/v0" };
const RANDOM_BYTE = 7;

/** A clock whose wall time is set by the replay. Durations are real, and the replay can let time pass at once. */
export interface ReplayClock extends Clock {
  set(now: number): void;
  /** Lets `ms` pass and runs the timers that are due then, in order. */
  advance(ms: number): void;
}

interface Timer {
  readonly dueAt: number;
  readonly run: () => void;
}

function replayClock(startAt: number): ReplayClock {
  let current = startAt;
  let skippedMs = 0;
  const timers = new Set<Timer>();
  const monotonic = () => systemClock.monotonic() + skippedMs;
  const runIfDue = (timer: Timer) => {
    if (timer.dueAt <= monotonic() && timers.delete(timer)) timer.run();
  };
  return {
    ...systemClock,
    now: () => current,
    monotonic,
    setTimeout(callback, delayMs) {
      const timer = { dueAt: monotonic() + delayMs, run: callback };
      timers.add(timer);
      const cancel = systemClock.setTimeout(() => runIfDue(timer), delayMs + 1);
      return () => {
        timers.delete(timer);
        cancel();
      };
    },
    set(now) {
      current = now;
    },
    advance(ms) {
      skippedMs += ms;
      for (const timer of [...timers].sort((a, b) => a.dueAt - b.dueAt)) runIfDue(timer);
    },
  };
}

export interface AdapterSession {
  readonly adapter: VenueAdapter;
  readonly clock: ReplayClock;
  readonly loopback: Loopback;
  readonly drops: Readonly<Record<string, number>>;
  /** Sends a frame and waits until the adapter has processed it. `key` identifies the frame. */
  deliver(send: () => void, key: string): Promise<void>;
  /** Registers a function that `close` calls first. */
  onClose(closer: () => void): void;
  /** Counts the drops and unknown requests as findings and closes all connections. */
  close(findings: Findings): Promise<void>;
}

export interface SessionOptions {
  readonly venue: string;
  readonly now: number;
  readonly respond: Respond;
  readonly onText?: (text: string, reply: (text: string) => void) => void;
  readonly socketIo?: { readonly namespace: string; readonly onEvent: (event: string, payload: unknown) => void };
}

let privateKey: string | null = null;

/** Creates the key that Kalshi's stream requires. The loopback server does not check signatures. */
function privateKeyPem(): string {
  privateKey ??= generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  }).privateKey;
  return privateKey;
}

export async function openAdapterSession(options: SessionOptions): Promise<AdapterSession> {
  const { venue } = options;
  const createVenue = await loadVenue({ id: venue, adapter: venue });
  const loopback = await openLoopback(options);
  const clock = replayClock(options.now);
  const http = createUndiciHttp(clock);
  const { countDrop, drops } = countDrops();
  const gate = createFrameGate();
  const urls = Object.fromEntries(
    (VENUE_SERVICES[venue] ?? []).map((service) => [
      service,
      service === "ws"
        ? `${loopback.wsUrl}${venue === "limitless" ? "" : "/ws"}`
        : `${loopback.httpUrl}/${service}${BASE_PATHS[venue] ?? ""}`,
    ]),
  );
  const adapter = createVenue(
    {
      http,
      sockets: gate.watchSockets(createWsSockets(clock)),
      socketIo: gate.watchSocketIo(createSocketIoClient(clock)),
      clock,
      random: { uniform: () => 0.5, bytes: (length) => new Uint8Array(length).fill(RANDOM_BYTE) },
      log: quietLog,
      countDrop,
      drift: () => {},
      areLimitsLifted: true,
    },
    urls,
    { key: { keyId: "key-of-the-replay", privateKeyPem: privateKeyPem() }, member: null },
  );
  const closers: (() => void)[] = [];
  return {
    adapter,
    clock,
    loopback,
    drops,
    deliver: gate.deliver,
    onClose: (closer) => void closers.push(closer),
    async close(findings) {
      for (const closer of closers) closer();
      await Promise.all([http.close(), loopback.close()]);
      for (const [reason, count] of Object.entries(drops)) findings.countDrop(reason, count);
      for (const request of new Set(loopback.unknownRequests)) {
        findings.differ("requests", "HTTP", "a path that the venue documents", request, undefined);
      }
    },
  };
}

/** Reports when the adapter has processed a frame, so that its messages can be assigned to the frame. */
function createFrameGate() {
  let pending: { readonly key: string; readonly resolve: () => void } | null = null;
  const notify = (key: string) => {
    if (pending?.key !== key) return;
    const { resolve } = pending;
    pending = null;
    resolve();
  };
  return {
    watchSockets: (sockets: SocketOut): SocketOut => ({
      connect: (url, options, handlers) =>
        sockets.connect(url, options, {
          ...handlers,
          onMessage(text, receivedAt) {
            handlers.onMessage(text, receivedAt);
            notify(text);
          },
        }),
    }),
    watchSocketIo: (socketIo: SocketIoOut): SocketIoOut => ({
      connect: (url, options, handlers) =>
        socketIo.connect(url, options, {
          ...handlers,
          onEvent(event, payload, receivedAt) {
            handlers.onEvent(event, payload, receivedAt);
            notify(JSON.stringify([event, payload]));
          },
        }),
    }),
    async deliver(send: () => void, key: string): Promise<void> {
      const processed = new Promise<void>((resolve) => {
        pending = { key, resolve };
      });
      send();
      const timeout = AbortSignal.timeout(FRAME_MS_MAX);
      const timedOut = new Promise<never>((_, reject) => {
        timeout.addEventListener("abort", () => reject(new Error("the adapter did not process a frame in time")), {
          once: true,
        });
      });
      await Promise.race([processed, timedOut]);
    },
  };
}
