import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, startServiceProcess, temporaryFolder } from "../support/service-process.ts";

test("the service analyses a simulated market of every venue, and keeps the results over a kill", async () => {
  const folder = await temporaryFolder();
  let service = await startServiceProcess({ dataDir: folder.path });
  try {
    const paths: string[] = [];
    for (const venue of ["kalshi", "polymarket", "limitless"]) {
      const [market] = (await service.get(`/v1/markets?source=${venue}&limit=1`)).json;
      const path = `/v1/markets/${venue}/${encodeURIComponent(market.market_id)}`;
      const headers = { authorization: `Bearer ${service.keys.enterprise}` };
      const response = await fetch(`${service.url}${path}/analyze`, { method: "POST", headers });
      assert.equal(response.status, 202);
      const { poll_url: pollUrl } = (await response.json()) as { readonly poll_url: string };
      const ended = await eventually(async () => {
        const { json } = await service.get(pollUrl);
        return json.status === "running" ? null : json;
      }, "the analysis");
      assert.deepEqual([ended.status, ended.error_message], ["complete", null]);
      paths.push(path);
    }
    const before = new Map<string, string>();
    for (const path of paths) {
      const { status, json } = await service.get(`${path}/analysis?expand=causal,scenarios,meta,history`);
      assert.equal(status, 200);
      assert.ok(json.probability > 0 && json.probability < 1 && json.history.points.length > 0);
      before.set(path, json.analysis_id);
    }
    await service.end("SIGKILL");
    service = await startServiceProcess({ dataDir: folder.path, isReady: false });
    for (const [path, id] of before)
      assert.equal(
        (await eventually(async () => (await service.get(`${path}/analysis`)).json, "the result")).analysis_id,
        id,
      );
  } finally {
    await service.end();
    await folder.release();
  }
});
