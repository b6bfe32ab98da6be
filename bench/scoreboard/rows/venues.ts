import { runProgramForRows } from "../../harness/program.ts";
import { GuaranteeError } from "../../harness/scenario.ts";
import type { ScoreboardRow } from "../row.ts";

const PROGRAM = "storm.ts";
const FAULT_RATE = 0.25;
const RECOVERY_MS_MAX = 2_000;
const FROZEN_RATIO_MAX = 1.1;
/** Smaller differences are noise of the machine. */
const FROZEN_DIFFERENCE_MS_MAX = 1;

interface StormFigures {
  readonly faults: { readonly injected: Readonly<Record<string, Readonly<Record<string, number>>>> };
  readonly uncounted: readonly string[];
  readonly responses: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
  readonly correctAfterMs: Readonly<Record<string, number | null>>;
}

export const venueFaultsRow: ScoreboardRow = {
  id: "S16",
  figure: `wrong values served while ${FAULT_RATE * 100}% of all venue answers are faulty, and time until all quotes are right`,
  target: `30 minutes: 0 wrong values, 0 undocumented statuses, 0 faults not counted, right <= ${RECOVERY_MS_MAX} ms after the faults`,
  mutations: [
    {
      defence: "a crossed book is not displayed",
      file: "src/domain/order-book.ts",
      find: "return bid !== null && ask !== null && bid >= ask;",
      replace: "return bid !== null && ask !== null && bid > 2 * ask + 1;",
    },
  ],
  async measure({ quick }) {
    const args = ["--seconds", quick ? 30 : 1_800, "--rate", FAULT_RATE, "--markets", quick ? 60 : 200];
    const [figures] = await runProgramForRows<StormFigures | { readonly hasExited: true }>(PROGRAM, args, 1);
    if (figures === undefined) throw new Error("the program printed no figures");
    if ("hasExited" in figures) throw new GuaranteeError("the service exited because of a fault");
    const { faults, uncounted, responses, violations, correctAfterMs } = figures;
    const injected = Object.values(faults.injected).flatMap((counts) => Object.values(counts));
    const faultCount = injected.reduce((sum, count) => sum + count, 0);
    if (faultCount === 0) throw new Error("no fault was injected");
    const responseCount = Object.values(responses).reduce((sum, count) => sum + count, 0);
    const times = Object.entries(correctAfterMs).map(([venue, ms]) => `${venue} ${ms === null ? "never" : `${ms} ms`}`);
    const isRight = Object.values(correctAfterMs).every((ms) => ms !== null && ms <= RECOVERY_MS_MAX);
    return {
      isMet: violations.length === 0 && uncounted.length === 0 && times.length > 0 && isRight,
      value: `${violations.length} wrong values or statuses in ${responseCount} responses${violations.length === 0 ? "" : ` (${violations[0]})`}, ${uncounted.length} kinds of faults not counted${uncounted.length === 0 ? "" : ` (${uncounted.join(", ")})`}, ${faultCount} faults; right after ${times.join(", ")}`,
    };
  },
};

interface FrozenFigures {
  readonly medianRatioP99?: number;
  readonly medianDifferenceP99Ms?: number;
  readonly books: { readonly served: number; readonly unserved: number; readonly frozenUnserved: number };
  readonly rounds: readonly object[];
}

export const hungVenueRow: ScoreboardRow = {
  id: "S17",
  figure: "p99 of the other venues beside a hung one, divided by the p99 without it, and their order books not served",
  target: `<= ${FROZEN_RATIO_MAX}, or at most ${FROZEN_DIFFERENCE_MS_MAX} ms more; 0 not served`,
  mutations: [
    {
      defence: "each venue has its own turns and its own circuit breaker",
      file: "src/ingest/on-demand/venue-request-queue.ts",
      find: "const lane = this.#lanes.get(venue) ?? createLane(this.#requestsPerSecondOf(venue), this.#clock.monotonic());\n    this.#lanes.set(venue, lane);",
      replace:
        'const lane = this.#lanes.get("") ?? createLane(this.#requestsPerSecondOf(venue), this.#clock.monotonic());\n    this.#lanes.set("", lane);',
    },
  ],
  async measure({ quick }) {
    const args = ["--frozen", "--rounds", quick ? 3 : 7, "--markets", quick ? 12 : 200];
    const [figures] = await runProgramForRows<FrozenFigures>(PROGRAM, args);
    if (figures === undefined) throw new Error("the program printed no figures");
    const { medianRatioP99 = Number.NaN, medianDifferenceP99Ms = Number.NaN, books, rounds } = figures;
    if (books.served + books.unserved === 0) throw new Error("no order book of another venue was read");
    if (books.frozenUnserved === 0) throw new Error("every order book of the hung venue was served");
    const isFast = medianRatioP99 <= FROZEN_RATIO_MAX || medianDifferenceP99Ms <= FROZEN_DIFFERENCE_MS_MAX;
    return {
      isMet: isFast && books.unserved === 0,
      value: `median ratio ${medianRatioP99.toFixed(2)}, difference ${medianDifferenceP99Ms.toFixed(2)} ms in ${rounds.length} rounds; ${books.unserved} of ${books.served + books.unserved} order books not served while ${books.frozenUnserved} of the hung venue were not served`,
    };
  },
};
