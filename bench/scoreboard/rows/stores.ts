import { readTestDatabaseUrl } from "../../harness/own-database.ts";
import { diskFullScenario } from "../../scenarios/disk-full.ts";
import { postgresUnavailableScenario } from "../../scenarios/postgres-unavailable.ts";
import type { ScoreboardRow } from "../row.ts";

const NOT_READY_MS_MAX = 2_000;
/** A probe is sent every second and waits 3 s for a response. */
const NOT_READY_BLACKHOLE_MS_MAX = 5_000;
const READY_MS_MAX = 3_000;

export const postgresOutageRow: ScoreboardRow = {
  id: "S19",
  figure: "false successes, readiness and exits while PostgreSQL is unavailable for 30 s under load",
  target: `0 false successes, not ready <= ${NOT_READY_MS_MAX / 1_000} s if connections are refused and <= ${NOT_READY_BLACKHOLE_MS_MAX / 1_000} s if packets are dropped, ready again <= ${READY_MS_MAX / 1_000} s, 0 exits`,
  mutations: [
    {
      defence: "readiness includes the store",
      file: "src/capabilities/operations/health/routes.ts",
      find: 'if (!options.isStoreUp()) throw new AppError("store_unavailable", "The store does not accept writes");',
      replace: "",
    },
  ],
  async measure({ quick, print }) {
    readTestDatabaseUrl();
    // Throws a GuaranteeError if a request succeeds without the store.
    const rows = await postgresUnavailableScenario.run({ quick, print, rounds: null, ticks: null, minutes: null });
    const readMs = (figure: string) => rows.find((row) => row.figure === figure)?.value.max ?? Number.NaN;
    const times = {
      notReady: readMs("not ready (refuse)"),
      notReadyDropped: readMs("not ready (blackhole)"),
      ready: Math.max(readMs("ready again (refuse)"), readMs("ready again (blackhole)")),
    };
    const notes = rows.filter(({ figure }) => figure.startsWith("not ready")).map(({ note }) => note);
    return {
      isMet:
        times.notReady <= NOT_READY_MS_MAX &&
        times.notReadyDropped <= NOT_READY_BLACKHOLE_MS_MAX &&
        times.ready <= READY_MS_MAX,
      value: `0 false successes; not ready after ${Math.round(times.notReady)} ms (connections refused) and ${Math.round(times.notReadyDropped)} ms (packets dropped), ready again after at most ${Math.round(times.ready)} ms; ${notes.join("; ")}`,
    };
  },
};

export const fullDiskRow: ScoreboardRow = {
  id: "S20",
  figure: "acknowledged ticks lost and reads that fail on a full disk, which is freed afterwards",
  target: "0 lost, 0 writes acknowledged while the disk is full, all reads answered",
  mutations: [
    {
      defence: "ticks that the store refuses are not acknowledged",
      file: "src/storage/tick-writer.ts",
      find: "        if (error instanceof AppError) throw error;\n",
      replace:
        "        if (error instanceof AppError) {\n          writtenCount += inFlightRows.length;\n          inFlightRows = [];\n          continue;\n        }\n",
    },
  ],
  async measure({ quick, print }) {
    // Throws a GuaranteeError if a row is lost, a write succeeds or a row cannot be read.
    const [lost, reads] = await diskFullScenario.run({ quick, print, rounds: null, ticks: null, minutes: null });
    if (lost === undefined || reads === undefined) throw new Error("the scenario has no rows");
    return {
      isMet: lost.isMet === true,
      value: `${lost.value.max} lost: ${lost.note}; ${reads.value.count} reads while full, the longest ${Math.round(reads.value.max)} ms`,
    };
  },
};
