import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { measureThroughput, sendAtFixedRate } from "../../harness/load.ts";
import { interleave } from "../../harness/rounds.ts";
import { type BenchService, openService, QUIET_WORLD_SETTINGS } from "../../harness/service.ts";
import { spreadOf } from "../../harness/statistics.ts";
import type { ScoreboardRow } from "../row.ts";

const PER_SECOND_MIN = 6_000;
const FIXED_PER_SECOND = 2_000;
const FIXED_P99_MS_MAX = 25;
const SLOW_SOCKETS = 500;
/** 100 connections per address, so that the limit per address refuses none. */
const SLOW_ADDRESSES = 5;
const SLOW_RATIO_MAX = 1.2;
const SLOW_MS_MAX = 15_000;
const DRIP_INTERVAL_MS = 1_000;
const HEALTHY_PER_SECOND = 300;

export const cachedReadRow: ScoreboardRow = {
  id: "S31",
  figure: "reads of one market with a key: requests/s of 64 connections, and p99 at a fixed 2,000 requests/s",
  target: `>= ${PER_SECOND_MIN.toLocaleString("en-US")} requests/s, p99 <= ${FIXED_P99_MS_MAX} ms, 0 errors`,
  mutations: [
    {
      defence: "the owner of a key is cached",
      file: "src/capabilities/accounts/keys/key-directory.ts",
      find: "const isUsable = ({ asOf, hasFailed }: Lookup) => !hasFailed && clock.monotonic() - asOf < ENTRY_MS_MAX;",
      replace:
        "const isUsable = ({ asOf, hasFailed, owner }: Lookup) => !hasFailed && owner instanceof Promise && clock.monotonic() - asOf < ENTRY_MS_MAX;",
    },
  ],
  async measure({ quick }) {
    const service = await openService(QUIET_WORLD_SETTINGS);
    try {
      const target = { url: `${service.url}${service.marketPath}`, headers: service.headers };
      await measureThroughput(target, quick ? 3 : 10);
      const rounds = quick ? 3 : 9;
      const seconds = quick ? 2 : 5;
      const samples = await interleave(rounds, {
        perSecond: () => measureThroughput(target, seconds),
        p99Ms: async () => {
          const { failed, p99Ms } = await sendAtFixedRate(target, { perSecond: FIXED_PER_SECOND, seconds });
          return failed === 0 ? p99Ms : Number.POSITIVE_INFINITY;
        },
      });
      const perSecond = spreadOf(samples.perSecond);
      const p99Ms = spreadOf(samples.p99Ms);
      return {
        isMet: perSecond.median >= PER_SECOND_MIN && p99Ms.median <= FIXED_P99_MS_MAX && Number.isFinite(p99Ms.max),
        value: `${Math.round(perSecond.median)} requests/s (${Math.round(perSecond.min)} to ${Math.round(perSecond.max)}), p99 ${p99Ms.median.toFixed(1)} ms (${p99Ms.min.toFixed(1)} to ${p99Ms.max.toFixed(1)}) at ${FIXED_PER_SECOND} requests/s`,
      };
    } finally {
      await service.close();
    }
  },
};

export const slowClientsRow: ScoreboardRow = {
  id: "S32",
  figure: `p99 of a healthy client beside ${SLOW_SOCKETS} clients that send 1 byte/s, divided by the p99 without them, and time until they are closed`,
  target: `<= ${SLOW_RATIO_MAX}, all closed <= ${SLOW_MS_MAX / 1_000} s`,
  mutations: [
    {
      defence: "the time of a request's headers and body is limited",
      file: "src/http/server.ts",
      find: "          requestTimeout: REQUEST_TIMEOUT_MS,\n          headersTimeout: HEADERS_TIMEOUT_MS,",
      replace: "          requestTimeout: 60_000,\n          headersTimeout: 60_000,",
    },
  ],
  async measure({ quick }) {
    const service = await openService(QUIET_WORLD_SETTINGS);
    try {
      // The service closes a slow client after 10 s.
      const seconds = quick ? 4 : 8;
      const target = { url: `${service.url}${service.marketPath}`, headers: service.headers };
      const measureP99 = async () => {
        const { failed, p99Ms } = await sendAtFixedRate(target, { perSecond: HEALTHY_PER_SECOND, seconds });
        return failed === 0 ? p99Ms : Number.POSITIVE_INFINITY;
      };
      await measureP99();
      const openMs: number[] = [];
      let closedEarly = 0;
      const samples = await interleave(quick ? 2 : 5, {
        alone: measureP99,
        attacked: async () => {
          const slow = await openSlowClients(service);
          try {
            const p99Ms = await measureP99();
            closedEarly += slow.lifetimesMs.length;
            await slow.untilClosed(SLOW_MS_MAX + DRIP_INTERVAL_MS);
            openMs.push(...slow.lifetimesMs);
            return p99Ms;
          } finally {
            slow.close();
          }
        },
      });
      const closed = openMs.filter((ms) => ms <= SLOW_MS_MAX).length;
      const total = SLOW_SOCKETS * samples.attacked.length;
      if (closedEarly > total / 2) throw new Error("most slow clients were closed before the measurement");
      const ratio = spreadOf(samples.attacked.map((ms, round) => ms / (samples.alone[round] ?? Number.NaN))).median;
      return {
        isMet: ratio <= SLOW_RATIO_MAX && closed === total,
        value: `median ratio ${ratio.toFixed(2)} of ${samples.attacked.length} rounds; ${closed} of ${total} slow clients closed within ${SLOW_MS_MAX / 1_000} s, the last after ${(Math.max(0, ...openMs) / 1_000).toFixed(1)} s`,
      };
    } finally {
      await service.close();
    }
  },
};

/** Opens clients that send one byte per second. Half of them send a header, the other half a body. */
async function openSlowClients(service: BenchService) {
  const port = Number(new URL(service.url).port);
  const lifetimesMs: number[] = [];
  const sockets = new Set<Socket>();
  const host = `host: 127.0.0.1:${port}\r\n`;
  const startHeader = `GET /livez HTTP/1.1\r\n${host}x-slow: `;
  const startBody = `POST /v1/customers/signup HTTP/1.1\r\n${host}content-type: application/json\r\ncontent-length: 10000\r\n\r\n`;
  for (let index = 0; index < SLOW_SOCKETS; index++) {
    const socket = connect({ port, host: "127.0.0.1", localAddress: `127.0.1.${1 + (index % SLOW_ADDRESSES)}` });
    await once(socket, "connect");
    const openedAt = performance.now();
    sockets.add(socket);
    socket.on("error", () => {});
    socket.resume();
    socket.once("close", () => {
      sockets.delete(socket);
      lifetimesMs.push(performance.now() - openedAt);
    });
    socket.write(index % 2 === 0 ? startHeader : startBody);
  }
  const drip = setInterval(() => {
    for (const socket of sockets) socket.write(" ");
  }, DRIP_INTERVAL_MS);
  return {
    lifetimesMs,
    /** Waits until the server has closed all of them, at most this long. */
    async untilClosed(withinMs: number) {
      const deadline = performance.now() + withinMs;
      while (sockets.size > 0 && performance.now() < deadline) await pause(DRIP_INTERVAL_MS / 10);
    },
    close() {
      clearInterval(drip);
      // The lifetime of a client is recorded only if the server closes it.
      for (const socket of sockets) socket.removeAllListeners("close").destroy();
    },
  };
}
