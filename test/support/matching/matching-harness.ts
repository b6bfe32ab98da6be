import { createInProcessBus } from "../../../src/adapters/bus/in-process-bus.ts";
import { systemRandom } from "../../../src/adapters/system/system-random.ts";
import type { MarketBoard } from "../../../src/board/index.ts";
import type { MatchRequest } from "../../../src/capabilities/markets/matching/model.ts";
import {
  createMatching,
  type Matching,
  type MatchingDependencies,
} from "../../../src/capabilities/markets/matching/service.ts";
import type { MatchUpdate } from "../../../src/matching/index.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { Database } from "../../../src/ports/database.ts";
import type { OpenStateThread } from "../../../src/ports/state-thread.ts";
import { quietLog } from "../quiet-log.ts";
import { eventually } from "../service-process.ts";
import { createEqualTitles } from "./equal-titles.ts";
import { createInlineThreads } from "./inline-thread.ts";

export interface MatchingHarness {
  readonly matching: Matching;
  readonly threads: ReturnType<typeof createInlineThreads<MatchRequest, MatchUpdate>>;
  /** Resolves when the decisions are read and all changes of the board are matched. */
  settle(): Promise<void>;
}

/** Starts the matching of a board with equal titles on no real thread. The venue "gamma" is a reference venue. */
export function openTestMatching(parts: {
  readonly board: MarketBoard;
  readonly clock: Clock;
  readonly database: Database;
  readonly bus?: MatchingDependencies["bus"];
}): MatchingHarness {
  const threads = createInlineThreads<MatchRequest, MatchUpdate>(createEqualTitles);
  const matching = createMatching({
    bus: createInProcessBus(quietLog),
    log: quietLog,
    random: systemRandom,
    // The types of the port are those of the module, which is replaced.
    openStateThread: (() => threads.open()) as unknown as OpenStateThread,
    venues: ["alpha", "beta", "gamma"].map((id) => ({ id, playMoney: id === "gamma" })),
    ...parts,
  });
  matching.start();
  return {
    matching,
    threads,
    async settle() {
      await eventually(() => (matching.isComplete && matching.report.pendingCount === 0 ? true : null), "the matching");
      // The response to the last request may be under way.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
