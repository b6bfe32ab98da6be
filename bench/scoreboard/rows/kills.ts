import { killScenario } from "../../scenarios/kill.ts";
import type { ScoreboardRow } from "../row.ts";

const KILLS_PER_STORE = 20;
const KILLS_PER_STORE_QUICK = 3;
const ACKNOWLEDGED_ROWS_MIN = 10_000;
const ACKNOWLEDGED_ROWS_MIN_QUICK = 5_000;

export const acknowledgedReportsRow: ScoreboardRow = {
  id: "S1",
  figure: "acknowledged ticks and trades lost or duplicated by `kill -9` of the writer, on each store",
  target: "0 of at least 10,000",
  mutations: [
    {
      defence: "a flush resolves after the ticks are stored",
      file: "src/storage/tick-writer.ts",
      find: "    flush: drain,",
      replace: "    flush: async () => {},",
    },
  ],
  async measure(options) {
    const rounds = options.quick ? KILLS_PER_STORE_QUICK : KILLS_PER_STORE;
    // Throws a GuaranteeError if a row is lost or stored twice.
    const rows = await killScenario.run({ ...options, rounds, ticks: null, minutes: null });
    const notes = rows.flatMap(({ figure, note }) => (note === "" ? [] : [`${figure.split(",")[0]}: ${note}`]));
    const counts = rows.flatMap(({ note }) => /(\d+) ticks/.exec(note)?.[1] ?? []).map(Number);
    const rowsMin = options.quick ? ACKNOWLEDGED_ROWS_MIN_QUICK : ACKNOWLEDGED_ROWS_MIN;
    if (counts.some((count) => count < rowsMin))
      throw new Error(`only ${counts.join(" and ")} rows were acknowledged before the kills`);
    return { isMet: counts.length > 0, value: `0 lost or duplicated; ${notes.join("; ")}` };
  },
};
