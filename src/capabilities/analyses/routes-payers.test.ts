import assert from "node:assert/strict";
import { openHarness, VENUE } from "../../../test/support/analyses/analysis-harness.ts";
import { eachDatabase } from "../../../test/support/databases.ts";
import { testServer } from "../../../test/support/test-app.ts";
import { analysisRoutes } from "./index.ts";

eachDatabase(
  "200: where calls are paid for one by one, whoever has the id of a run polls it without a key",
  async (database) => {
    const { app, listMarket } = await openHarness(database);
    listMarket("m-1");
    const { service } = app.analyses;
    const { analysisId } = await service.analyse(VENUE, "m-1", { customerId: "payer-1", isForced: false });
    for (const acceptsPayments of [true, false]) {
      const { app: http } = await testServer();
      const venues = { trading: [VENUE], all: [VENUE] };
      const unused = () => Promise.reject(new Error("unused"));
      analysisRoutes(http, { service, venues, acceptsPayments, getMarket: unused, getHistory: unused, now: Date.now });
      for (const path of [`/v1/analyses/${analysisId}/status`, `/v1/markets/${VENUE}/m-1/analyze/${analysisId}/status`])
        assert.equal((await http.inject(path)).statusCode, acceptsPayments ? 200 : 401);
      assert.equal((await http.inject("/v1/analyses")).statusCode, 401);
      const { metering } = http.routeTable.entries.find(({ operationId }) => operationId === "analyze_market") ?? {};
      assert.deepEqual([metering?.priceTier, metering?.settles], ["INSIGHT", "before"]);
    }
  },
);
