import assert from "node:assert/strict";
import { mock } from "node:test";
import { inputIn, SAME_SITE, signedInHarness } from "../../../../test/support/customers/account-harness.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { atFileEnd } from "../../../../test/support/file-end.ts";
import { type SampleParts, sampleMarket } from "../../../../test/support/markets/market-samples.ts";
import { eventually } from "../../../../test/support/service-process.ts";
import { ScriptedVenue } from "../../../../test/support/venues/scripted-venue.ts";
import { systemClock } from "../../../adapters/system/system-clock.ts";
import { AppError, VenueError } from "../../../domain/errors.ts";
import type { Database } from "../../../ports/database.ts";

const PAGE = "/markets/venue_a/m-1";
const BUTTON = /<button type="submit">Analyse this market<\/button>/;
const RELOAD =
  /<meta http-equiv="refresh" content="5; url=\/markets\/venue_a\/m-1\?period=7d&amp;analysis=plx-[a-z2-7]{26}">/;

/** Opens the complete service with a signed-in visitor. The venue `play` is only a reference. Its clock is the real one. */
async function openService(database: Database) {
  const createVenue = (id: string, referenceOnly: boolean) => ({
    id,
    referenceOnly,
    playMoney: referenceOnly,
    create: () => new ScriptedVenue(id, systemClock),
  });
  const { harness, cookie, customerId, apiKey, fields } = await signedInHarness(database, {
    clock: systemClock,
    analyses: { hasScheduledAnalyses: false },
    venues: [createVenue("venue_a", false), createVenue("play", true)],
  });
  const { app, visit, submit, call, operator } = harness;
  atFileEnd(() => app.analyses.stop());
  const listMarket = (marketId: string, parts: SampleParts = {}) => {
    const now = Date.now();
    const listing = { venue: "venue_a", ...parts.listing };
    app.board.apply(sampleMarket(marketId, { ...parts, listing, quote: { receivedAt: now, ...parts.quote } }), now);
  };
  listMarket("m-1");
  return {
    app,
    submit,
    customerId,
    operator,
    cookie,
    fields,
    listMarket,
    /** Visits the page of a market as the signed-in visitor. */
    visitSignedIn: (path = PAGE) => visit(path, { cookie }),
    visitSignedOut: (path = PAGE) => visit(path),
    /** Submits the form of the market's page. */
    analyse: (path = PAGE, changes: Readonly<Record<string, string>> = {}) =>
      submit(`${path}/analyze`, { csrf: fields.csrf, form: "", ...changes }, { cookie }),
    countCalls: async () => (await call("GET", "/v1/customers/me", { key: apiKey })).json.usage.insight as number,
    countRuns: async () =>
      (await database.query<{ count: number }>("select count(*)::int4 as count from analysis_runs"))[0]?.count,
    listAnalyses: async () => (await call("GET", "/v1/analyses", { key: apiKey })).json as { analysis_id: string }[],
    ended: (analysisId: string) =>
      eventually(async () => {
        const { run } = await app.analyses.service.getStatus(analysisId, null);
        return run.status === "running" ? null : run;
      }, "the end of the analysis"),
  };
}

const alertIn = (text: string): string =>
  /<p class="warn" role="alert">(.*?)<\/p>/s.exec(text)?.[1]?.replace(/<[^>]*>/g, "") ?? "";

eachDatabase(
  "303: a signed-in visitor starts an analysis and sees its start time, then the estimate",
  async (database) => {
    const service = await openService(database);
    const { app, visitSignedIn, visitSignedOut, submit, cookie, countCalls, listAnalyses } = service;
    const before = await visitSignedIn();
    assert.match(before.text, BUTTON);
    assert.match(before.text, /one call of your INSIGHT quota/);
    assert.doesNotMatch(before.text, /curl -X POST/);
    assert.equal(before.headers["cache-control"], "no-store");
    const action = /<form method="post" action="([^"#]+)#estimate">/.exec(before.text)?.[1] ?? "";
    const fields = { csrf: inputIn(before.text, "csrf"), form: inputIn(before.text, "form") };
    const from = Date.now();
    const { status, headers, text } = await submit(action, fields, { cookie });
    const until = Date.now();
    assert.deepEqual([status, text], [303, ""]);
    const location = String(headers.location);
    const analysisId =
      /^\/markets\/venue_a\/m-1\?period=7d&analysis=(plx-[a-z2-7]{26})#estimate$/.exec(location)?.[1] ?? "";
    for (const visit of [visitSignedIn, visitSignedOut]) {
      const running = await visit(location.replace(/#.*/, ""));
      assert.match(running.text, RELOAD);
      assert.doesNotMatch(running.text, BUTTON);
      assert.doesNotMatch(running.text, /curl -X POST|Nobody has analysed/);
      const since = /has been running since (\w+ \d+, \d+, [\d:]+) UTC/.exec(running.text)?.[1];
      const sinceMs = Date.parse(`${since} UTC`);
      assert.ok(sinceMs > from - 1_000 && sinceMs <= until, since);
    }
    assert.match((await visitSignedOut()).text, /has been running since/, "the page says so without the id of the run");
    assert.equal(await countCalls(), 1);
    app.analyses.start();
    assert.equal((await service.ended(analysisId)).status, "complete");
    const after = await visitSignedIn(location.replace(/#.*/, ""));
    assert.match(after.text, /<strong>\d+\.\d%<\/strong> Yes <span class="faint">80% interval/);
    assert.doesNotMatch(after.text, RELOAD);
    assert.doesNotMatch(after.text, BUTTON);
    assert.equal(after.headers["cache-control"], "public, no-cache", "the page contains no form of the session");
    assert.deepEqual(
      (await listAnalyses()).map(({ analysis_id }) => analysis_id),
      [analysisId],
    );
    await app.analyses.stop();
  },
);

eachDatabase("200: visitors without a session get a link to sign in and the request for the API", async (database) => {
  const { visitSignedIn, visitSignedOut, app } = await openService(database);
  const { text, headers } = await visitSignedOut();
  assert.doesNotMatch(text, /<form method="post"/);
  assert.match(text, /<a href="\/account">Sign in<\/a> to analyse it on this page, or send this request:/);
  assert.match(text, /curl -X POST &quot;[^&]+\/v1\/markets\/venue_a\/m-1\/analyze&quot;/);
  assert.equal(headers["cache-control"], "public, no-cache");
  for (const response of [headers, (await visitSignedIn()).headers]) assert.match(String(response.vary), /^cookie\b/);
  const unknownRun = await visitSignedOut(`${PAGE}?analysis=plx-unknown`);
  assert.deepEqual([unknownRun.status, RELOAD.test(unknownRun.text)], [200, false]);
  const target = await visitSignedOut(`${PAGE}/analyze`);
  assert.deepEqual([target.status, target.headers.location], [303, PAGE]);
  app.board.apply(sampleMarket("m-1", { listing: { venue: "venue_a", status: "closed" } }), Date.now());
  assert.doesNotMatch((await visitSignedIn()).text, BUTTON);
});

eachDatabase(
  "401 and 403: a form without a session, or of another site or session, starts no analysis",
  async (database) => {
    const { submit, cookie, fields, countCalls, countRuns } = await openService(database);
    const send = async (csrf: string, options: Parameters<typeof submit>[2]) => {
      const { status, text } = await submit(`${PAGE}/analyze`, { csrf, form: "" }, options);
      return [status, alertIn(text)];
    };
    const signedOut = "You are signed out. Sign in, then try again.";
    assert.deepEqual(await send(fields.csrf, {}), [401, signedOut]);
    assert.deepEqual(await send(fields.csrf, { cookie: `parallax=${"a".repeat(26)}` }), [401, signedOut]);
    const otherSession = "This form belongs to another session: reload its page and try again.";
    for (const csrf of ["", "0".repeat(64)]) assert.deepEqual(await send(csrf, { cookie }), [403, otherSession]);
    const foreign: readonly Readonly<Record<string, string>>[] = [
      { "sec-fetch-site": "cross-site", origin: "https://attacker.example" },
      { "sec-fetch-site": "same-site", origin: "null" },
      { origin: "https://attacker.example" },
      { ...SAME_SITE, origin: "https://attacker.example" },
    ];
    for (const headers of foreign) {
      const [status, reason] = await send(fields.csrf, { cookie, headers });
      assert.equal(status, 403);
      assert.match(String(reason), /^This form was not submitted from http/);
    }
    const from = "203.0.113.7";
    for (let attempt = 0; attempt < 60; attempt++) assert.equal((await send("", { from }))[0], 401);
    assert.equal((await send("", { from }))[0], 429, "the attempts of an IP address are limited");
    assert.deepEqual([await countCalls(), await countRuns()], [0, 0]);
  },
);

eachDatabase(
  "429 and 403: the API's quota, minute limit and plan apply, and the page states the reason of a refusal",
  async (database) => {
    const { app, analyse, customerId, operator, listMarket, countCalls, countRuns } = await openService(database);
    // All plans include analyses at present.
    const refusing = mock.method(app.analyses.service, "analyse", async () => {
      throw new AppError("plan_required", "This endpoint needs the pro plan. Upgrade: /pricing");
    });
    const excluded = await analyse();
    assert.deepEqual(
      [excluded.status, alertIn(excluded.text)],
      [403, "Your plan does not include analyses. Compare plans"],
    );
    refusing.mock.restore();
    await app.customers.setPlan(customerId, "enterprise", operator);
    await app.customers.setQuota(customerId, "INSIGHT", 1, operator);
    assert.equal((await analyse()).status, 303);
    listMarket("m-2");
    const refused = await analyse("/markets/venue_a/m-2");
    assert.equal(refused.status, 429);
    assert.match(
      alertIn(refused.text),
      /^You have used all INSIGHT calls of this month\. Analyses count as INSIGHT calls\. The quota resets on \d{4}-\d\d-01\. Compare plans$/,
    );
    assert.match(refused.text, /<h1 dir="auto">Question m-2<\/h1>/);
    assert.match(refused.text, BUTTON);
    assert.match(String(refused.headers.ratelimit), /"insight";r=0/);
    const running = await analyse();
    assert.equal(running.status, 429);
    assert.match(running.text, /has been running since/);
    assert.doesNotMatch(running.text, RELOAD, "a reload would remove the reason");
    await app.customers.setRateLimits(customerId, { general: 1 }, operator);
    const limited = await analyse();
    assert.equal(limited.status, 429);
    assert.match(alertIn(limited.text), /^Rate limit exceeded\. Retry after \d+ seconds\.$/);
    await app.customers.setRateLimits(customerId, { general: null }, operator);
    assert.deepEqual([await countCalls(), await countRuns()], [1, 1]);
  },
);

eachDatabase(
  "422, 502 and 404: markets that cannot be analysed are rejected with the reason and use no quota",
  async (database) => {
    const { app, analyse, listMarket, countCalls, countRuns } = await openService(database);
    listMarket("closed", { listing: { status: "closed" } });
    listMarket("no-price", { quote: { bid: null, ask: null, lastPrice: null } });
    app.board.apply(sampleMarket("fun", { listing: { venue: "play" } }), Date.now());
    const send = async (path: string) => {
      const { status, text } = await analyse(`/markets/${path}`);
      return [status, alertIn(text)];
    };
    assert.deepEqual(await send("venue_a/closed"), [
      422,
      "The market is not open for trading, so it cannot be analysed.",
    ]);
    assert.deepEqual(await send("venue_a/no-price"), [502, "The venue currently has no price for this market."]);
    mock.method(app.analyses.service, "analyse", async () => {
      throw new VenueError("timeout", "secret", { retryable: true });
    });
    assert.deepEqual(await send("venue_a/m-1"), [
      502,
      "The venue cannot be reached at the moment. Try again in a minute.",
    ]);
    const playMoney = await analyse("/markets/play/fun");
    assert.equal(playMoney.status, 404);
    assert.match(playMoney.text, /<p>The prices of Play are only references here, .*are not analysed\.<\/p>/);
    assert.equal((await analyse("/markets/venue_a/none")).status, 404);
    assert.equal((await analyse(PAGE, { form: "x" })).status, 422);
    assert.deepEqual([await countCalls(), await countRuns()], [0, 0]);
  },
);

eachDatabase("303: a form that is submitted twice counts once, and another form counts again", async (database) => {
  const { analyse, countCalls, countRuns } = await openService(database);
  const form = "0123456789abcdef0123";
  const locations = [];
  for (let click = 0; click < 2; click++) locations.push((await analyse(PAGE, { form })).headers.location);
  assert.equal(locations[0], locations[1]);
  assert.deepEqual([await countCalls(), await countRuns()], [1, 1]);
  assert.equal((await analyse(PAGE, { form: "00000000000000000000" })).headers.location, locations[0]);
  assert.deepEqual([await countCalls(), await countRuns()], [2, 1]);
});

eachDatabase(
  "200: if the analysis ends without a result, the page says why and offers a new analysis",
  async (database) => {
    const { app, analyse, visitSignedIn, ended, listMarket } = await openService(database);
    // Without a last price, because the board keeps the last known one.
    listMarket("m-3", { quote: { lastPrice: null } });
    const location = String((await analyse("/markets/venue_a/m-3")).headers.location).replace(/#.*/, "");
    listMarket("m-3", { quote: { bid: null, ask: null, lastPrice: null } });
    app.analyses.start();
    const { status } = await ended(location.replace(/.*analysis=/, ""));
    assert.equal(status, "error");
    listMarket("m-3");
    const { text } = await visitSignedIn(location);
    assert.match(
      alertIn(text),
      /^The analysis requested on .* UTC has ended without a result\. The market has no price at present, so it cannot be analysed\.$/,
    );
    assert.match(text, BUTTON);
    assert.doesNotMatch(text, RELOAD);
    await app.analyses.stop();
  },
);
