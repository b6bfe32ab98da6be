import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { customerHarness } from "../../../../test/support/customers/customer-harness.ts";
import { eachDatabase } from "../../../../test/support/databases.ts";
import { describeDetail } from "../../../../test/support/markets/market-api.ts";
import { fakeWebhookPorts, ok } from "../../../../test/support/webhooks/fake-webhook-ports.ts";
import type { Database } from "../../../ports/database.ts";
import type { WebhookAnswer, WebhookRequest } from "../../../ports/webhook-out.ts";

const OPERATOR = { kind: "operator", id: "test" } as const;
const BODY = { url: "https://example.org/events", events: ["whale_alert", "analysis_complete"] };
const CHANGE_MS = 100;

/** Starts the service with one customer whose receiver answers `answer`. */
async function openApi(database: Database, answer: () => WebhookAnswer = () => ok()) {
  const sent: WebhookRequest[] = [];
  const ports = fakeWebhookPorts((request) => {
    sent.push(request);
    return answer();
  });
  const harness = await customerHarness(database, ports);
  let customers = 0;
  const createCaller = async (plan: "free" | "pro" = "pro") => {
    customers += 1;
    const email = `hook.${customers}@example.org`;
    const { customerId, key } = await harness.app.customers.create({ email, name: null, plan }, OPERATOR);
    const call = async (method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: object) => {
      let isEnded = false;
      const reply = harness.call(method, `/v1/webhooks${path}`, { key: key.apiKey, body }).finally(() => {
        isEnded = true;
      });
      // A change is answered when it has taken effect on all nodes, `CHANGE_MS` later.
      while (!isEnded) await harness.clock.advance(method === "GET" || method === "POST" ? 0 : CHANGE_MS);
      return reply;
    };
    return { customerId, apiKey: key.apiKey, call };
  };
  return { ...harness, sent, createCaller };
}

eachDatabase("200: a registration is listed without its secret, and can be deleted", async (database) => {
  const { createCaller, clock } = await openApi(database);
  const { call } = await createCaller();
  const { status, json } = await call("POST", "", { ...BODY, secret: "a secret of mine" });
  const { webhook_id: id } = json;
  assert.match(id, /^wh-[a-z2-7]{26}$/);
  const webhook = { ...BODY, webhook_id: id, enabled: true, failure_count: 0 };
  assert.deepEqual([status, json], [200, { ...webhook, created_at: new Date(clock.now()).toISOString() }]);
  assert.deepEqual((await call("GET", "")).json, [json]);
  const [row] = await database.query<{ text: string }>("select webhooks::text as text from webhooks");
  assert.ok(!row?.text.includes("a secret of mine"));
  const deleted = await call("DELETE", `/${id}`);
  assert.deepEqual([deleted.status, deleted.json], [200, {}]);
  assert.deepEqual((await call("GET", "")).json, []);
  assert.equal((await call("DELETE", `/${id}`)).status, 404);
});

eachDatabase("200: a generated secret is returned only by the request that generates it", async (database) => {
  const { createCaller } = await openApi(database);
  const { call } = await createCaller();
  const { json } = await call("POST", "", { ...BODY, events: ["whale_alert", "whale_alert"] });
  assert.match(json.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.deepEqual(json.events, ["whale_alert"]);
  assert.equal((await call("GET", "")).json[0].secret, undefined);
  const rolled = await call("PATCH", `/${json.webhook_id}`, { roll_secret: true });
  assert.match(rolled.json.secret, /^whsec_/);
  assert.notEqual(rolled.json.secret, json.secret);
  assert.equal((await call("PATCH", `/${json.webhook_id}`, { secret: "mine" })).json.secret, undefined);
});

eachDatabase("422: rejects invalid registrations, changes, page limits and cursors", async (database) => {
  const { createCaller } = await openApi(database);
  const { call } = await createCaller();
  const cases: [object, string][] = [
    [{ ...BODY, url: "http://example.org" }, "value_error at body.url"],
    [{ ...BODY, url: undefined }, "missing at body.url"],
    [{ ...BODY, url: "" }, "string_too_short at body.url"],
    [{ ...BODY, url: `https://example.org/${"x".repeat(2_048)}` }, "string_too_long at body.url"],
    [{ ...BODY, events: [] }, "too_short at body.events"],
    [{ ...BODY, events: ["nonsense"] }, "literal_error at body.events.0"],
    [{ ...BODY, secret: "" }, "string_too_short at body.secret"],
    [{ ...BODY, secret: "x".repeat(257) }, "string_too_long at body.secret"],
  ];
  for (const [body, error] of cases) {
    const { status, json } = await call("POST", "", body);
    assert.deepEqual([status, describeDetail(json)], [422, [error]]);
  }
  const { json } = await call("POST", "", BODY);
  const change = await call("PATCH", `/${json.webhook_id}`, { enabled: "maybe", events: [] });
  assert.deepEqual(describeDetail(change.json), ["bool_parsing at body.enabled", "too_short at body.events"]);
  const twoSecrets = await call("PATCH", `/${json.webhook_id}`, { roll_secret: true, secret: "mine" });
  assert.deepEqual([twoSecrets.status, describeDetail(twoSecrets.json)], [422, ["value_error at body.roll_secret"]]);
  const page = await call("GET", `/${json.webhook_id}/deliveries?limit=101&cursor=x`);
  assert.deepEqual(describeDetail(page.json), ["less_than_equal at query.limit"]);
  const wrongCursor = await call("GET", `/${json.webhook_id}/deliveries?cursor=x`);
  assert.deepEqual(describeDetail(wrongCursor.json), ["value_error at query.cursor"]);
});

eachDatabase(
  "409: a customer can have at most 10 webhooks, even if they are registered concurrently",
  async (database) => {
    const { createCaller } = await openApi(database);
    const first = await createCaller();
    for (let index = 0; index < 9; index++) await first.call("POST", "", BODY);
    // Another customer, because the quota of the first is almost used up.
    const { customerId, call } = await createCaller();
    await database.query("update webhooks set customer_id = $1", [customerId]);
    const replies = await Promise.all(Array.from({ length: 3 }, () => call("POST", "", BODY)));
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409, 409]);
    assert.ok(replies.every(({ status, json }) => status === 200 || json.code === "webhook_limit_reached"));
  },
);

eachDatabase("404: another customer's webhook and an unknown webhook return the same error code", async (database) => {
  const { createCaller, sent } = await openApi(database);
  const owner = await createCaller();
  const stranger = await createCaller();
  const { json } = await owner.call("POST", "", BODY);
  for (const id of [json.webhook_id, "wh-aaaaaaaaaaaaaaaaaaaaaaaaaa", "%27%20or%201=1"]) {
    const replies = [
      await stranger.call("DELETE", `/${id}`),
      await stranger.call("PATCH", `/${id}`, { enabled: false }),
      await stranger.call("POST", `/${id}/test`),
      await stranger.call("GET", `/${id}/deliveries`),
    ];
    for (const reply of replies) assert.deepEqual([reply.status, reply.json.code], [404, "webhook_not_found"]);
  }
  assert.deepEqual((await stranger.call("GET", "")).json, []);
  assert.equal((await owner.call("GET", "")).json[0].enabled, true);
  assert.equal(sent.length, 0);
});

eachDatabase(
  "403: a customer with the free plan cannot register or test webhooks, but can list and delete webhooks",
  async (database) => {
    const { createCaller, app } = await openApi(database);
    const { call } = await createCaller("free");
    const { status, json } = await call("POST", "", BODY);
    assert.deepEqual([status, json.code], [403, "plan_required"]);
    assert.equal((await call("POST", "/wh-a/test")).status, 403);
    assert.deepEqual((await call("GET", "")).json, []);
    assert.equal((await call("DELETE", "/wh-a")).status, 404);
    assert.equal((await app.http.inject({ method: "POST", url: "/v1/webhooks", payload: BODY })).statusCode, 401);
  },
);

eachDatabase("only a registration counts towards the DEEP quota", async (database) => {
  const { createCaller, call } = await openApi(database);
  const caller = await createCaller();
  const { json } = await caller.call("POST", "", BODY);
  await caller.call("GET", "");
  await caller.call("POST", `/${json.webhook_id}/test`);
  await caller.call("PATCH", `/${json.webhook_id}`, { enabled: false });
  await caller.call("DELETE", `/${json.webhook_id}`);
  const me = await call("GET", "/v1/customers/me", { key: caller.apiKey });
  assert.equal(me.json.usage.deep?.used ?? me.json.usage.deep, 1);
});

eachDatabase("200: a test event is signed and returns what the receiver answered", async (database) => {
  let answer: WebhookAnswer = { ...ok(418), kind: "answered", status: 418, retryAt: null, bodyHead: "teapot" };
  const { createCaller, sent, clock } = await openApi(database, () => answer);
  const { call } = await createCaller();
  const { json } = await call("POST", "", BODY);
  const first = await call("POST", `/${json.webhook_id}/test`);
  const result = { delivered: false, response_status: 418, response_head: "teapot", problem: null, latency_ms: 0 };
  assert.deepEqual([first.status, first.json], [200, result]);
  const [request] = sent;
  assert.ok(request !== undefined);
  const { type, webhook_id, id } = JSON.parse(request.body);
  assert.deepEqual([type, webhook_id, request.headers["webhook-id"]], ["test", json.webhook_id, `evt_${id}`]);
  const secret = new Webhook(json.secret);
  assert.match(request.headers["webhook-signature"] ?? "", /^v1,/);
  assert.equal(secret.sign(`evt_${id}`, new Date(clock.now()), request.body), request.headers["webhook-signature"]);
  const second = await call("POST", `/${json.webhook_id}/test`);
  assert.deepEqual([second.status, second.json.code, second.headers["retry-after"]], [429, "rate_limited", "10"]);
  await clock.advance(10_000);
  const texts = new Set<string>();
  for (const failure of ["forbidden_address", "connection_failed"] as const) {
    answer = { kind: "failed", failure };
    texts.add((await call("POST", `/${json.webhook_id}/test`)).text);
    await clock.advance(10_000);
  }
  assert.equal(texts.size, 1, "the text does not tell what is behind an address");
  answer = { kind: "failed", failure: "unavailable" };
  const unsent = await call("POST", `/${json.webhook_id}/test`);
  assert.deepEqual([unsent.status, unsent.json.response_status, unsent.json.latency_ms], [200, null, null]);
});

eachDatabase("200: deliveries are listed newest first, in pages", async (database) => {
  const { createCaller } = await openApi(database);
  const { call } = await createCaller();
  const { json } = await call("POST", "", BODY);
  await database.query(
    `insert into webhook_deliveries (webhook_id, event_id, event_type, status, attempts, first_attempt_at,
       last_attempt_at, response_status, response_head, latency_ms, next_attempt_at, body, failure)
     select $1, id, 'whale_alert', case id when 3 then 'retrying' else 'delivered' end, 1, to_timestamp(id),
       to_timestamp(id), case id when 3 then null else 200 end, null, 7, case id when 3 then to_timestamp(60) end,
       case id when 3 then '{}' end, case id when 3 then 'bad_response' end
     from generate_series(1, 3) as id`,
    [json.webhook_id],
  );
  const first = await call("GET", `/${json.webhook_id}/deliveries?limit=2`);
  assert.deepEqual(
    first.json.map(({ event_id: id, status }: Record<string, string>) => [id, status]),
    [
      ["3", "retrying"],
      ["2", "delivered"],
    ],
  );
  assert.deepEqual(
    [first.json[0].next_attempt_at, first.json[0].problem],
    ["1970-01-01T00:01:00.000Z", "The response is not valid HTTP"],
  );
  const next = /<([^>]+)>; rel="next"/.exec(String(first.headers.link))?.[1] ?? "";
  const second = await call("GET", next.slice("/v1/webhooks".length));
  assert.deepEqual([second.json.length, second.json[0].event_id, second.headers.link], [1, "1", undefined]);
});

eachDatabase("a disabled webhook starts again with the next event and without failures", async (database) => {
  const { createCaller } = await openApi(database);
  const { call } = await createCaller();
  const { json } = await call("POST", "", BODY);
  await database.query("update webhooks set failure_count = 4, failing_since = now(), last_failure_at = now()");
  const disabled = await call("PATCH", `/${json.webhook_id}`, { enabled: false, events: ["price_shift"] });
  assert.deepEqual(
    [disabled.json.enabled, disabled.json.events, disabled.json.failure_count],
    [false, ["price_shift"], 4],
  );
  await database.query("insert into event_log_head (last_id, dropped_through) values (77, 0)");
  const enabled = await call("PATCH", `/${json.webhook_id}`, { enabled: true });
  assert.deepEqual([enabled.json.enabled, enabled.json.failure_count], [true, 0]);
  const [row] = await database.query<{ position: number }>("select position from webhooks");
  assert.equal(row?.position, 77);
});

eachDatabase("the deletion of a customer deletes its webhooks", async (database) => {
  const { createCaller, app } = await openApi(database);
  const { call, customerId } = await createCaller();
  await call("POST", "", BODY);
  await app.customers.delete(customerId, OPERATOR);
  assert.deepEqual(await database.query("select 1 from webhooks"), []);
});
