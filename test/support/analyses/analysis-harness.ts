import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import type { AppPorts } from "../../../src/app/index.ts";
import type { Plan } from "../../../src/domain/plan.ts";
import type { Database } from "../../../src/ports/database.ts";
import { customerHarness } from "../customers/customer-harness.ts";
import { eachDatabase } from "../databases.ts";
import { atFileEnd } from "../file-end.ts";
import { type SampleParts, sampleMarket } from "../markets/market-samples.ts";
import { eventually } from "../service-process.ts";

const OPERATOR = { kind: "operator", id: "test" } as const;
export const VENUE = "venue_a";

export const marketPath = (marketId: string) => `/v1/markets/${VENUE}/${encodeURIComponent(marketId)}`;

/**
 * Builds the complete service with analyses, on the real clock because the queue waits for the store. Nothing is run before
 * `app.analyses.start()`. The service's own analyses are off.
 */
export async function openHarness(database: Database, ports: Partial<AppPorts> = {}) {
  const { analyses, ...others } = ports;
  const harness = await customerHarness(database, {
    clock: systemClock,
    analyses: { hasScheduledAnalyses: false, ...analyses },
    ...others,
  });
  const { app, call } = harness;
  // Stops the analyses of a test that fails before its own stop.
  atFileEnd(() => app.analyses.stop());
  let customers = 0;
  const listMarket = (marketId: string, parts: SampleParts = {}) => {
    const now = Date.now();
    const listing = { venue: VENUE, ...parts.listing };
    return app.board.apply(
      sampleMarket(marketId, { ...parts, listing, quote: { receivedAt: now, ...parts.quote } }),
      now,
    ).market;
  };
  return {
    ...harness,
    listMarket,
    /** Waits until a run ends, and returns it. */
    ended: (analysisId: string) =>
      eventually(async () => {
        const { run } = await app.analyses.service.getStatus(analysisId, null);
        return run.status === "running" ? null : run;
      }, "the end of the analysis"),
    async createCaller(plan: Plan = "pro") {
      customers += 1;
      const email = `caller.${customers}@example.org`;
      const { customerId, key } = await app.customers.create({ email, name: null, plan }, OPERATOR);
      const { apiKey } = key;
      const send = (method: "GET" | "POST", path: string) => call(method, path, { key: apiKey });
      return {
        customerId,
        apiKey,
        get: (path: string) => send("GET", path),
        post: (path: string) => send("POST", path),
        analyze: (marketId: string, query = "") => send("POST", `${marketPath(marketId)}/analyze${query}`),
      };
    },
  };
}

type OpenAnalyses = (ports?: Partial<AppPorts>) => ReturnType<typeof openHarness>;

/** Runs a test on both stores. Services are stopped at its end, so that they take no job of the next test. */
export function analysisTest(name: string, run: (open: OpenAnalyses, database: Database) => Promise<void>): void {
  eachDatabase(name, async (database) => {
    const opened: Awaited<ReturnType<typeof openHarness>>[] = [];
    const open: OpenAnalyses = async (ports) => {
      const harness = await openHarness(database, ports);
      opened.push(harness);
      return harness;
    };
    try {
      await run(open, database);
    } finally {
      for (const { app } of opened) await app.analyses.stop();
    }
  });
}
