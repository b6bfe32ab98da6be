import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import {
  startTurnstileServer,
  TURNSTILE_SECRET,
  type TurnstileServer,
} from "../../../test/support/customers/turnstile-server.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { recordingLog } from "../../../test/support/test-app.ts";
import { createUndiciHttp } from "../../adapters/network/undici-http.ts";
import { systemClock } from "../../adapters/system/system-clock.ts";
import { systemRandom } from "../../adapters/system/system-random.ts";
import { AppError } from "../../domain/errors.ts";
import type { HttpOut } from "../../ports/http-out.ts";
import { createTurnstile, dummyBotCheck, isTestSecret, TURNSTILE_DUMMY_TOKEN } from "./turnstile.ts";

const ADDRESS = "203.0.113.9";
const http = createUndiciHttp(systemClock);
let server: TurnstileServer;
before(async () => {
  server = await startTurnstileServer();
});
beforeEach(() => {
  server.requests.length = 0;
});
after(async () => {
  await http.close();
  await server.close();
});

function bench(options: { secret?: string; http?: HttpOut; hostname?: string | null } = {}) {
  const clock = new FakeClock();
  const { log, lines } = recordingLog();
  const settings = { secret: TURNSTILE_SECRET, url: server.url, hostname: "parallax.example", deadlineMs: 300 };
  return { clock, lines, check: createTurnstile({ http, clock, random: systemRandom, log, ...settings, ...options }) };
}

const isUnavailable = (error: unknown) => error instanceof AppError && error.code === "bot_check_unavailable";

test("a token of this site passes, once, and the checker is asked as its protocol says", async () => {
  const { check } = bench();
  const token = server.issue();
  assert.equal(await check.passes(token, ADDRESS), true);
  const [body] = server.requests;
  const { idempotency_key: key, ...rest } = body ?? {};
  assert.deepEqual(rest, { secret: TURNSTILE_SECRET, response: token, remoteip: ADDRESS });
  assert.match(String(key), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(await check.passes(token, ADDRESS), false);
  assert.equal(server.requests.length, 1, "a token shown here before is not even asked about");
});

test("the checker is told of a caller's address without what a proxy left at it, and of nothing that is none", async () => {
  const { check } = bench();
  for (const address of [`${ADDRESS}:50123`, `[::ffff:${ADDRESS}]:443`, "unknown"]) {
    assert.equal(await check.passes(server.issue(), address), true);
  }
  assert.deepEqual(
    server.requests.map(({ remoteip }) => remoteip),
    [ADDRESS, ADDRESS, undefined],
  );
});

test("a token shown twice at the same time passes once, and a replay on another node is refused by the checker", async () => {
  const { check } = bench();
  const token = server.issue();
  const verdicts = await Promise.all(Array.from({ length: 20 }, () => check.passes(token, ADDRESS)));
  assert.equal(verdicts.filter((passed) => passed).length, 1);
  assert.equal(await bench().check.passes(token, ADDRESS), false);
});

test("a token of another site, of another form, or of nobody is refused", async () => {
  const { check } = bench();
  assert.equal(await check.passes(server.issue({ hostname: "evil.example" }), ADDRESS), false);
  assert.equal(await check.passes(server.issue({ action: "login" }), ADDRESS), false);
  assert.equal(await check.passes(server.issue({ action: "" }), ADDRESS), false);
  assert.equal(await check.passes("made up", ADDRESS), false);
  assert.equal(await check.passes(TURNSTILE_DUMMY_TOKEN, ADDRESS), false);
});

for (const trouble of ["500", "html", "hang", "not-json", "endless", "internal-error"] as const) {
  test(`nobody is let through while the checker is in trouble (${trouble}), and the same token passes after it`, async () => {
    const { check } = bench();
    const token = server.issue();
    server.trouble(trouble, 2);
    await assert.rejects(check.passes(token, ADDRESS), isUnavailable);
    assert.equal(server.requests.length, 2, "asked again once, and not for ever");
    assert.equal(server.requests[0]?.idempotency_key, server.requests[1]?.idempotency_key);
    assert.equal(await check.passes(token, ADDRESS), true);
  });
}

test("an answer that was lost on its way does not cost the token: the second attempt is known for the same", async () => {
  const { check } = bench();
  const token = server.issue();
  server.trouble("lost");
  assert.equal(await check.passes(token, ADDRESS), true);
  assert.equal(server.requests.length, 2);
});

test("after two lost answers the same token still passes, as the attempt that it was, and then no more", async () => {
  const { check } = bench();
  const token = server.issue();
  server.trouble("lost", 2);
  await assert.rejects(check.passes(token, ADDRESS), isUnavailable);
  assert.equal(await check.passes(token, ADDRESS), true);
  assert.equal(new Set(server.requests.map((request) => request.idempotency_key)).size, 1);
  assert.equal(await check.passes(token, ADDRESS), false);
});

test("a checker that is not there lets nobody through", async () => {
  const gone = await startTurnstileServer();
  await gone.close();
  const { log } = recordingLog();
  const tools = { http, clock: new FakeClock(), random: systemRandom, log, hostname: null };
  const check = createTurnstile({ ...tools, secret: TURNSTILE_SECRET, url: gone.url });
  await assert.rejects(check.passes("token", ADDRESS), isUnavailable);
});

test("a wrong secret is our mistake: an outage for the caller, an error for the operator, and it is not told", async () => {
  const secret = "0x4AAAAAAA_wrong_secret_that_must_not_be_seen";
  const { check, lines } = bench({ secret });
  await assert.rejects(check.passes(server.issue(), ADDRESS), isUnavailable);
  assert.equal(lines[0]?.level, "error");
  assert.doesNotMatch(JSON.stringify(lines), /wrong_secret/);
});

test("no more than 64 checks are under way at once", async () => {
  const held: (() => void)[] = [];
  const slow: HttpOut = {
    send: () =>
      new Promise((resolve) =>
        held.push(() =>
          resolve({ status: 200, headers: {}, body: '{"success":false,"error-codes":[]}', receivedAt: 0 }),
        ),
      ),
  };
  const { check } = bench({ http: slow });
  const under = Array.from({ length: 64 }, (_, turn) => check.passes(`token ${turn}`, ADDRESS));
  await assert.rejects(check.passes("one more", ADDRESS), isUnavailable);
  for (const answer of held) answer();
  assert.deepEqual(new Set(await Promise.all(under)), new Set([false]));
});

test("shown tokens are remembered for ten minutes, and ten thousand of them", async () => {
  let asked = 0;
  const no: HttpOut = {
    async send() {
      asked += 1;
      return { status: 200, headers: {}, body: '{"success":false,"error-codes":[]}', receivedAt: 0 };
    },
  };
  const { check, clock } = bench({ http: no });
  const show = async (token: string) => {
    const before = asked;
    await check.passes(token, ADDRESS);
    return asked > before;
  };
  assert.equal(await show("a"), true);
  await clock.advance(599_999);
  assert.equal(await show("a"), false);
  await clock.advance(1);
  assert.equal(await show("a"), true);
  for (let turn = 0; turn < 10_001; turn++) await show(`filler ${turn}`);
  assert.equal(await show("a"), true, "the oldest was forgotten");
});

test("without a secret a sandbox takes the published dummy token, as often as it comes, and nothing else", async () => {
  for (let turn = 0; turn < 3; turn++) assert.equal(await dummyBotCheck.passes("XXXX.DUMMY.TOKEN.XXXX", ADDRESS), true);
  for (const token of ["", "xxxx.dummy.token.xxxx", "XXXX.DUMMY.TOKEN.XXXX ", "0.real"])
    assert.equal(await dummyBotCheck.passes(token, ADDRESS), false);
});

test("the three published test secrets are known for what they are", () => {
  for (const first of ["1", "2", "3"]) assert.equal(isTestSecret(`${first}x0000000000000000000000000000000AA`), true);
  assert.equal(isTestSecret(TURNSTILE_SECRET), false);
});
