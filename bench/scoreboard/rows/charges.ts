import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import { AppError } from "../../../src/domain/errors.ts";
import { seededUniform } from "../../../test/support/research/sample-web.ts";
import { createCaller, openMeteredRoute } from "../../harness/metered-route.ts";
import { openTemporaryStore } from "../../harness/open-store.ts";
import type { ScoreboardRow } from "../row.ts";

const CALLS = 10_000;
const CALLS_QUICK = 2_000;
const CALLER_COUNT = 64;
const FAULT_SHARE = 0.3;

export const chargesRow: ScoreboardRow = {
  id: "S4",
  figure: "calls counted, compared with successful calls, while 30% of the calls fail with 502",
  target: `equal, of ${CALLS.toLocaleString("en-US")} calls`,
  mutations: [
    {
      defence: "a call that fails with 5xx is not counted",
      file: "src/capabilities/accounts/metering/guards.ts",
      find: "reply.statusCode >= 500 ||",
      replace: "",
    },
  ],
  async measure({ quick, seed }) {
    const calls = quick ? CALLS_QUICK : CALLS;
    const { succeeded, failed, counted } = await countCalls(calls, seededUniform(seed));
    if (succeeded + failed !== calls) throw new Error(`${calls - succeeded - failed} calls had another status`);
    if (failed < (calls * FAULT_SHARE) / 2) throw new Error(`only ${failed} calls failed`);
    return {
      isMet: counted === succeeded,
      value: `${counted} counted, ${succeeded} succeeded, ${failed} failed with 502`,
    };
  },
};

async function countCalls(calls: number, uniform: () => number) {
  await using closers = new AsyncDisposableStack();
  const customer = createCaller("cus-1");
  const { app, metering } = await openMeteredRoute(closers, {
    database: await openTemporaryStore(closers),
    nodeId: "node-1",
    sharedLimits: null,
    authenticate: () => customer,
    // Fails at random as if the venue did not answer.
    async handler() {
      await systemClock.yieldToEventLoop();
      if (uniform() < FAULT_SHARE) throw new AppError("venue_unavailable", "The venue does not answer.");
      return {};
    },
  });
  const counts = new Map<number, number>();
  let started = 0;
  const call = async () => {
    while (started < calls) {
      started += 1;
      const { statusCode } = await app.inject({ url: "/call", headers: { authorization: "Bearer key" } });
      counts.set(statusCode, (counts.get(statusCode) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: CALLER_COUNT }, call));
  const { usage } = await metering.usage(customer);
  return { succeeded: counts.get(200) ?? 0, failed: counts.get(502) ?? 0, counted: usage.INSIGHT };
}
