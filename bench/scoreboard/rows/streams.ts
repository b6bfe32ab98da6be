import { readTestDatabaseUrl } from "../../harness/own-database.ts";
import { runProgramForRows } from "../../harness/program.ts";
import { quantile } from "../../harness/statistics.ts";
import type { ScoreboardRow } from "../row.ts";

const PROGRAM = "stream.ts";
const LAG_P99_MS_MAX = 300;
const MEMORY_MIB_MAX = 350;
const STALLED_RATIO_MAX = 1.2;
const STALLED_MEMORY_MIB_MAX = 64;
/** Bytes that must be sent to each client that does not read. The buffers of the kernel hold fewer. */
const STALLED_SENT_BYTES_MIN = 5_000_000;
const EVENT_BYTES_MIN = 15_000;

interface FanOutFigures {
  readonly clients: number;
  readonly expected: number;
  readonly received: number;
  readonly gaps: number;
  readonly duplicates: number;
  readonly resets: number;
  readonly p50: number;
  readonly p99: number;
  readonly mib: number;
}

export const streamLagRow: ScoreboardRow = {
  id: "S12",
  figure: "lag of 10,000 event streams at 1 event/s",
  target: `10 minutes: p99 <= ${LAG_P99_MS_MAX} ms, 0 gaps, 0 repeated, <= ${MEMORY_MIB_MAX} MiB`,
  mutations: [
    {
      defence: "an append wakes the readers of the event log",
      file: "src/event-log/event-log.ts",
      find: "announce: () => bus.publish(EVENTS_TOPIC),",
      replace: "announce: () => {},",
    },
  ],
  async measure({ quick }) {
    readTestDatabaseUrl();
    const args = ["fan-out", "--clients", quick ? 1_000 : 10_000, "--seconds", quick ? 10 : 600];
    const [figures] = await runProgramForRows<FanOutFigures>(PROGRAM, args);
    if (figures === undefined) throw new Error("the program printed no figures");
    const { clients, expected, received, gaps, duplicates, resets, p50, p99, mib } = figures;
    return {
      isMet:
        received === expected &&
        gaps === 0 &&
        duplicates === 0 &&
        resets === 0 &&
        p99 <= LAG_P99_MS_MAX &&
        mib <= MEMORY_MIB_MAX,
      value: `${clients} clients: p50 ${Math.round(p50)} ms, p99 ${Math.round(p99)} ms, ${received} of ${expected} received, ${gaps} gaps, ${duplicates} repeated, ${Math.round(mib)} MiB for the clients`,
    };
  },
};

interface ResumeFigures {
  readonly expected: number;
  readonly received: number;
  readonly gaps: number;
  readonly duplicates: number;
  readonly resets: number;
  readonly reconnects: number;
}

export const streamResumeRow: ScoreboardRow = {
  id: "S13",
  figure: "events missing, repeated or out of order after reset connections and restarts, half of them `kill -9`",
  target: "0 in 1,000 resets and 10 restarts",
  mutations: [
    {
      defence: "a client that reconnects continues after its last event",
      file: "src/capabilities/events/streaming/stream-client.ts",
      find: "this.position = request.lastEventId;",
      replace: "this.position = null;",
    },
  ],
  async measure({ quick }) {
    readTestDatabaseUrl();
    const [clients, seconds, drops, restarts] = quick ? [200, 12, 100, 2] : [1_000, 60, 1_000, 10];
    const args = ["--clients", clients, "--seconds", seconds, "--drops", drops, "--restarts", restarts];
    const [figures] = await runProgramForRows<ResumeFigures>(PROGRAM, ["resume", ...args]);
    if (figures === undefined) throw new Error("the program printed no figures");
    const { expected, received, gaps, duplicates, resets, reconnects } = figures;
    // Each restart closes all connections.
    if (reconnects < clients * restarts) throw new Error(`only ${reconnects} connections were closed`);
    return {
      isMet: received === expected && gaps === 0 && duplicates === 0 && resets === 0,
      value: `${received} of ${expected} received, ${gaps} gaps, ${duplicates} repeated or out of order, ${resets} told to start anew; ${reconnects} reconnects`,
    };
  },
};

interface StalledFigures {
  readonly round?: number;
  readonly kind?: "healthy" | "stalled";
  readonly mib?: number;
  readonly cut?: { readonly unsent_bytes: number; readonly stalled: number };
  readonly ratio?: number;
}

export const stalledStreamsRow: ScoreboardRow = {
  id: "S14",
  figure: "p99 lag of event streams beside 500 of 2,000 that never read, divided by the p99 without them",
  target: `<= ${STALLED_RATIO_MAX}, <= ${STALLED_MEMORY_MIB_MAX} MiB more, all that never read are closed`,
  mutations: [
    {
      defence: "a stream with too many unsent bytes is closed",
      file: "src/capabilities/events/streaming/stream-client.ts",
      find: "return writableLength <= UNSENT_BYTES_MAX;",
      replace: "return true;",
    },
  ],
  async measure({ quick }) {
    readTestDatabaseUrl();
    const [clients, stalled, rounds, seconds, rate] = quick ? [200, 50, 3, 8, 50] : [2_000, 500, 7, 20, 20];
    const sentBytes = seconds * rate * EVENT_BYTES_MIN;
    if (sentBytes < STALLED_SENT_BYTES_MIN) throw new Error(`each client is sent only ${sentBytes} bytes`);
    const load = ["--clients", clients, "--stalled", stalled, "--rounds", rounds, "--seconds", seconds, "--rate", rate];
    const rows = await runProgramForRows<StalledFigures>(PROGRAM, ["stalled", ...load]);
    const ratio = rows.at(-1)?.ratio;
    if (ratio === undefined) throw new Error("the program printed no ratio");
    const medianMibOf = (kind: string) => {
      const samples = rows.flatMap((row) => (row.kind === kind ? (row.mib ?? Number.NaN) : []));
      return quantile(samples, 0.5);
    };
    const addedMib = medianMibOf("stalled") - medianMibOf("healthy");
    const stalledRounds = rows.filter(({ kind }) => kind === "stalled");
    const cutCounts = stalledRounds.map(({ cut }) => cut?.unsent_bytes ?? 0);
    const isEveryCut = cutCounts.length === rounds && cutCounts.every((count) => count === stalled);
    return {
      isMet: ratio <= STALLED_RATIO_MAX && addedMib <= STALLED_MEMORY_MIB_MAX && isEveryCut,
      value: `median ratio ${ratio} of ${rounds} rounds, ${Math.round(addedMib)} MiB more, ${cutCounts.join(", ")} of ${stalled} closed`,
    };
  },
};
