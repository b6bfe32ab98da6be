import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import type { Database } from "../../src/ports/database.ts";
import { startFacilitator } from "../../test/support/evm/facilitator.ts";
import { startLocalChain } from "../../test/support/evm/local-chain.ts";
import { startPaidService } from "../../test/support/evm/paid-service.ts";
import { callWith, fetchRequirements, signPayment } from "../../test/support/evm/payer.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { hasTestDatabase, openNewSchema } from "../harness/own-database.ts";
import { type BenchOptions, type BenchRow, createBenchRow, type Scenario } from "../harness/scenario.ts";

/** Number of paid calls; below the limits per minute of a payer and of an IP address. */
const CALL_COUNT = 100;
const CALL_COUNT_QUICK = 10;
/** Price of one call in millionths of a dollar. */
const PRICE_MICROS = 10_000n;

export const paymentsScenario: Scenario = {
  name: "payments",
  describe: "Sequential paid calls: check, verify, handle, settle on a local chain, respond.",
  async run(options) {
    const rows = [];
    const embedded = await openEmbeddedDatabase({ dataDir: null, log: quietLog });
    rows.push(await measurePaidCalls("embedded", embedded, options).finally(() => embedded.close()));
    if (hasTestDatabase()) {
      const schema = await openNewSchema("payments");
      rows.push(await measurePaidCalls("PostgreSQL", schema.database, options).finally(() => schema.drop()));
    }
    return rows;
  },
};

async function measurePaidCalls(name: string, database: Database, options: BenchOptions): Promise<BenchRow> {
  await migrateDatabase(database);
  const chain = await startLocalChain();
  const facilitator = await startFacilitator(chain);
  const payee = await chain.newPayer(0n);
  const service = await startPaidService({ database, chain, facilitator, payTo: payee.address });
  try {
    const calls = options.quick ? CALL_COUNT_QUICK : CALL_COUNT;
    const payer = await chain.newPayer(PRICE_MICROS * BigInt(calls));
    const url = `${service.url}/v1/test/after`;
    const requirements = await fetchRequirements(url);
    const samples = [];
    for (let call = 0; call < calls; call++) {
      const { header } = await signPayment(payer, chain, requirements);
      const sentAt = performance.now();
      const { status } = await callWith(url, header);
      samples.push(performance.now() - sentAt);
      if (status !== 200) throw new Error(`a paid call returned ${status}`);
    }
    if ((await chain.balanceOf(payee.address)) !== PRICE_MICROS * BigInt(calls))
      throw new Error("the payments are missing on the chain");
    const note = "chain, facilitator and service share one process; on Base a block takes 2 s";
    return createBenchRow({ figure: `paid call, ${name}`, unit: "ms", samples, note });
  } finally {
    await service.close();
    await facilitator.close();
    await chain.close();
  }
}
