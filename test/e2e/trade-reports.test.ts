import assert from "node:assert/strict";
import { test } from "node:test";
import { type ServiceProcess, startServiceProcess, temporaryFolder } from "../support/service-process.ts";

const REPORTS = 60;
/** The service is killed while the others are on their way. */
const RESPONSES_BEFORE_KILL = 15;

async function sendReport(service: ServiceProcess, body: object, idempotencyKey: string) {
  const response = await fetch(`${service.url}/v1/trades/report`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${service.keys.pro}`,
      "content-type": "application/json",
      "idempotency-key": idempotencyKey,
    },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200);
  return ((await response.json()) as { trade_count: number }).trade_count;
}

test("every report with a 200 survives a kill of the service, and repeating all of them counts each once", async () => {
  const folder = await temporaryFolder();
  const first = await startServiceProcess({ dataDir: folder.path });
  const [market] = (await first.get("/v1/markets?limit=1")).json;
  const bodyOf = (index: number) => ({
    platform: market.platform,
    market_id: market.market_id,
    side: "yes",
    price: market.yes_price,
    size_usd: 10,
    client_ref: `order ${index}`,
  });
  const acknowledged = new Set<number>();
  let killed: Promise<unknown> | null = null;
  const outcomes = await Promise.allSettled(
    Array.from({ length: REPORTS }, async (_, index) => {
      await sendReport(first, bodyOf(index), `key ${index}`);
      acknowledged.add(index);
      if (acknowledged.size === RESPONSES_BEFORE_KILL) killed = first.end("SIGKILL");
    }),
  );
  await killed;
  assert.ok(
    outcomes.some(({ status }) => status === "rejected"),
    "the kill interrupted some reports",
  );
  const second = await startServiceProcess({ dataDir: folder.path });
  try {
    // A report that was acknowledged is stored, so repeating it does not increase the count.
    const probe = [...acknowledged];
    const counts: number[] = [];
    for (const index of probe) counts.push(await sendReport(second, bodyOf(index), `key ${index}`));
    assert.ok((counts[0] ?? 0) >= acknowledged.size);
    assert.equal(new Set(counts).size, 1, `repeated reports were stored again: ${counts}`);
    for (let index = 0; index < REPORTS; index++) await sendReport(second, bodyOf(index), `key ${index}`);
    assert.equal(await sendReport(second, bodyOf(0), "key 0"), REPORTS);
  } finally {
    await second.end();
    await folder.release();
  }
});
