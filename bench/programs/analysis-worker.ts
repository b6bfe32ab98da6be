import { openPostgresBus } from "../../src/adapters/bus/postgres-bus.ts";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import type { ResearchRunner } from "../../src/capabilities/analysis/analyses/index.ts";
import { openHarness } from "../../test/support/analyses/analysis-harness.ts";
import { slowResearch } from "../../test/support/analyses/scripted-research.ts";
import { quietLog } from "../../test/support/quiet-log.ts";

/**
 * A node that runs analyses until it is killed. Arguments: database URL, schema, number of markets, milliseconds of research,
 * runs at the same time. It prints each start of research as a line.
 */
const [url = "", schema = "", markets = "0", researchMs = "0", concurrency = "8"] = process.argv.slice(2);
const database = await openPostgresDatabase({ url, schema, log: quietLog });
const bus = openPostgresBus({ url, clock: systemClock, random: systemRandom, log: quietLog });
const research = slowResearch(Number(researchMs));
const { budgetUsd, dailyBudgetUsd, deadlineMs } = research;
const researchRunner: ResearchRunner = {
  budgetUsd,
  dailyBudgetUsd,
  deadlineMs,
  run(question, options) {
    process.stdout.write(`${question.marketId} ${options.savedState === null ? "new" : "continued"}\n`);
    return research.run(question, options);
  },
};
const { app, listMarket } = await openHarness(database, {
  bus,
  analyses: { researchRunner, concurrency: Number(concurrency) },
});
for (let number = 0; number < Number(markets); number++) listMarket(`m-${number}`);
app.analyses.start();
process.stdout.write("ready\n");
