import { readTestDatabaseUrl } from "../../harness/own-database.ts";
import { runProgramForRows } from "../../harness/program.ts";
import type { ScoreboardRow } from "../row.ts";

interface KilledFigures {
  readonly runs: number;
  readonly kills: number;
  readonly seconds: number;
  readonly ended: Readonly<Record<string, number>>;
  readonly attempts_max: number;
  readonly research_started: number;
  readonly research_continued: number;
  readonly research_started_per_run_max: number;
  readonly runs_without_event: number;
  readonly duplicate_events: number;
}

/** The first start, and one more after the worker was killed. */
const STARTS_PER_RUN_MAX = 2;

export const killedAnalysesRow: ScoreboardRow = {
  id: "S22",
  figure: "analyses that do not end, or end twice, while one of two workers is killed every 5 s",
  target: "1,000 runs: all end, 0 without event, 0 repeated events, at most one repeated research each",
  mutations: [
    {
      defence: "other workers take over the runs of a killed worker",
      file: "src/capabilities/analysis/analyses/run-worker.ts",
      find: '      this.#createJob("reclaim", RECLAIM_MS, () => queue.reclaim()),\n',
      replace: "",
    },
  ],
  async measure({ quick }) {
    readTestDatabaseUrl();
    const runs = quick ? 100 : 1_000;
    const args = ["--markets", 2, "--runs", runs, "--kill", 5, "--minutes", quick ? 1 : 20];
    const rows = await runProgramForRows<{ readonly killed?: KilledFigures }>("analyses.ts", args);
    const killed = rows.find((row) => row.killed !== undefined)?.killed;
    if (killed === undefined) throw new Error("the program printed no figures");
    const interrupted = killed.research_started - runs + killed.research_continued;
    if (killed.kills === 0 || interrupted <= 0) throw new Error("no kill interrupted a run");
    const { complete = 0, error = 0 } = killed.ended;
    const unended = runs - complete - error;
    return {
      isMet:
        unended === 0 &&
        killed.runs_without_event === 0 &&
        killed.duplicate_events === 0 &&
        killed.research_started_per_run_max <= STARTS_PER_RUN_MAX,
      value: `${unended} of ${runs} runs did not end, ${killed.runs_without_event} without event, ${killed.duplicate_events} repeated events, at most ${killed.research_started_per_run_max} starts of research per run; ${killed.kills} kills in ${killed.seconds} s`,
    };
  },
};
