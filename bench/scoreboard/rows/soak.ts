import { soakScenario } from "../../scenarios/soak.ts";
import type { ScoreboardRow } from "../row.ts";

const FULL_RUN = { minutes: 60, growthPercentMax: 5, descriptorsChangeMax: 2 };
/** A process that has just started still fills its caches and pools, so a short run can find only fast growth. */
const QUICK_RUN = { minutes: 2, growthPercentMax: 50, descriptorsChangeMax: 20 };
/** More failed observations mean that the memory was not measured evenly. */
const FAILED_SHARE_MAX = 0.1;
const OBSERVATIONS_PER_MINUTE = 6;
/** Fewer stored ticks mean that the load did not happen. */
const TICKS_PER_SECOND_MIN = 200;

export const soakRow: ScoreboardRow = {
  id: "S15",
  figure: "growth of resident memory and change of open file descriptors under load",
  target: `1 hour, from a quarter of the time on: < ${FULL_RUN.growthPercentMax}%, at most ${FULL_RUN.descriptorsChangeMax} descriptors (quick: ${QUICK_RUN.minutes} minutes, < ${QUICK_RUN.growthPercentMax}%, ${QUICK_RUN.descriptorsChangeMax})`,
  mutations: [
    {
      defence: "a tick that is stored is not kept in memory",
      file: "src/storage/tick-writer.ts",
      find: "writtenCount += inFlightRows.length - rejectedCount;",
      replace:
        "writtenCount += inFlightRows.length - rejectedCount; Object.assign(partitions, { [writtenCount]: inFlightRows.map(({ eventAt }) => Array(700).fill(eventAt)) });",
    },
  ],
  async measure(options) {
    const { minutes, growthPercentMax, descriptorsChangeMax } = options.quick ? QUICK_RUN : FULL_RUN;
    const rows = await soakScenario.run({ ...options, minutes, rounds: null, ticks: null });
    const find = (figure: string) => {
      const row = rows.find((candidate) => candidate.figure === figure);
      if (row === undefined) throw new Error(`the scenario has no figure "${figure}"`);
      return row;
    };
    const memory = find("growth of resident memory");
    const descriptors = find("change of open file descriptors");
    const failed = find("failed observations").value.median;
    const ticksPerSecond = Math.round(find("ticks stored").value.median);
    if (!(ticksPerSecond >= TICKS_PER_SECOND_MIN)) throw new Error(`only ${ticksPerSecond} ticks/s were stored`);
    if (!(failed <= minutes * OBSERVATIONS_PER_MINUTE * FAILED_SHARE_MAX))
      throw new Error(`${failed} observations failed`);
    const growthPercent = memory.value.median;
    return {
      isMet: growthPercent < growthPercentMax && descriptors.value.median <= descriptorsChangeMax,
      value: `${growthPercent.toFixed(1)}% (${memory.note}), ${descriptors.value.median} descriptors (${descriptors.note}), ${failed} failed observations, ${ticksPerSecond} ticks/s in ${minutes} minutes`,
    };
  },
};
