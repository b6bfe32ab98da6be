import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { hasErrorCode } from "../../../../test/support/asserts/error-code.ts";
import {
  startTurnstileServer,
  TURNSTILE_SECRET,
  type TurnstileServer,
} from "../../../../test/support/customers/turnstile-server.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { recordingLog } from "../../../../test/support/test-app.ts";
import { createUndiciHttp } from "../../../adapters/network/undici-http.ts";
import { systemClock } from "../../../adapters/system/system-clock.ts";
import { systemRandom } from "../../../adapters/system/system-random.ts";
import type { HttpOut } from "../../../ports/http-out.ts";
import { createTurnstile, dummyBotCheck, isTurnstileTestSecret, TURNSTILE_DUMMY_TOKEN } from "./turnstile.ts";

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

function setUp(options: { secret?: string; http?: HttpOut; hostname?: string | null } = {}) {
  const clock = new FakeClock();
  const { log, lines } = recordingLog();
  const settings = { secret: TURNSTILE_SECRET, url: server.url, hostname: "parallax.example", deadlineMs: 300 };
  return { clock, lines, check: createTurnstile({ http, clock, random: systemRandom, log, ...settings, ...options }) };
}

const isUnavailable = hasErrorCode("bot_check_unavailable");

test("a valid token passes once, and the request has the documented siteverify format", async () => {
  const { check } = setUp();
  const token = server.issue();
  assert.equal(await check.passes(token, ADDRESS), true);
  const [body] = server.requests;
  const { idempotency_key: key, ...rest } = body ?? {};
  assert.deepEqual(rest, { secret: TURNSTILE_SECRET, response: token, remoteip: ADDRESS });
  assert.match(String(key), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(await check.passes(token, ADDRESS), false);
  assert.equal(server.requests.length, 1, "a used token is rejected without a request");
});

test("the request contains the caller's IP address without port, or none if it is not an IP address", async () => {
  const { check } = setUp();
  for (const address of [`${ADDRESS}:50123`, `[::ffff:${ADDRESS}]:443`, "unknown"]) {
    assert.equal(await check.passes(server.issue(), address), true);
  }
  assert.deepEqual(
    server.requests.map(({ remoteip }) => remoteip),
    [ADDRESS, ADDRESS, undefined],
  );
});

test("if a token is checked concurrently, one check passes, and Turnstile rejects a replay on another node", async () => {
  const { check } = setUp();
  const token = server.issue();
  const results = await Promise.all(Array.from({ length: 20 }, () => check.passes(token, ADDRESS)));
  assert.equal(results.filter((passed) => passed).length, 1);
  assert.equal(await setUp().check.passes(token, ADDRESS), false);
});

test("a token is rejected if it is unknown or was issued for another site or form", async () => {
  const { check } = setUp();
  assert.equal(await check.passes(server.issue({ hostname: "evil.example" }), ADDRESS), false);
  assert.equal(await check.passes(server.issue({ action: "login" }), ADDRESS), false);
  assert.equal(await check.passes(server.issue({ action: "" }), ADDRESS), false);
  assert.equal(await check.passes("unknown token", ADDRESS), false);
  assert.equal(await check.passes(TURNSTILE_DUMMY_TOKEN, ADDRESS), false);
});

for (const failure of ["500", "html", "timeout", "not-json", "endless", "internal-error"] as const) {
  test(`no token passes while Turnstile fails (${failure}), and the same token passes afterwards`, async () => {
    const { check } = setUp();
    const token = server.issue();
    server.failNext(failure, 2);
    await assert.rejects(check.passes(token, ADDRESS), isUnavailable);
    assert.equal(server.requests.length, 2, "one retry");
    assert.equal(server.requests[0]?.idempotency_key, server.requests[1]?.idempotency_key);
    assert.equal(await check.passes(token, ADDRESS), true);
  });
}

test("if a response is lost, the retry uses the same idempotency key, and the token passes", async () => {
  const { check } = setUp();
  const token = server.issue();
  server.failNext("lost-response");
  assert.equal(await check.passes(token, ADDRESS), true);
  assert.equal(server.requests.length, 2);
});

test("after two lost responses, the token passes once with the same idempotency key", async () => {
  const { check } = setUp();
  const token = server.issue();
  server.failNext("lost-response", 2);
  await assert.rejects(check.passes(token, ADDRESS), isUnavailable);
  assert.equal(await check.passes(token, ADDRESS), true);
  assert.equal(new Set(server.requests.map((request) => request.idempotency_key)).size, 1);
  assert.equal(await check.passes(token, ADDRESS), false);
});

test("no token passes if Turnstile is unreachable", async () => {
  const stoppedServer = await startTurnstileServer();
  await stoppedServer.close();
  const { log } = recordingLog();
  const dependencies = { http, clock: new FakeClock(), random: systemRandom, log, hostname: null };
  const check = createTurnstile({ ...dependencies, secret: TURNSTILE_SECRET, url: stoppedServer.url });
  await assert.rejects(check.passes("token", ADDRESS), isUnavailable);
});

test("if the secret is wrong, the caller receives `bot_check_unavailable`, and the log contains an error without the secret", async () => {
  const secret = "0x4AAAAAAA_wrong_secret_that_must_not_be_seen";
  const { check, lines } = setUp({ secret });
  await assert.rejects(check.passes(server.issue(), ADDRESS), isUnavailable);
  assert.equal(lines[0]?.level, "error");
  assert.doesNotMatch(JSON.stringify(lines), /wrong_secret/);
});

test("at most 64 checks run concurrently", async () => {
  const responders: (() => void)[] = [];
  const slowHttp: HttpOut = {
    send: () =>
      new Promise((resolve) =>
        responders.push(() =>
          resolve({ status: 200, headers: {}, body: '{"success":false,"error-codes":[]}', receivedAt: 0 }),
        ),
      ),
  };
  const { check } = setUp({ http: slowHttp });
  const checks = Array.from({ length: 64 }, (_, index) => check.passes(`token ${index}`, ADDRESS));
  await assert.rejects(check.passes("one more", ADDRESS), isUnavailable);
  for (const respond of responders) respond();
  assert.deepEqual(new Set(await Promise.all(checks)), new Set([false]));
});

test("up to ten thousand used tokens are stored for ten minutes", async () => {
  let requestCount = 0;
  const rejectingHttp: HttpOut = {
    async send() {
      requestCount += 1;
      return { status: 200, headers: {}, body: '{"success":false,"error-codes":[]}', receivedAt: 0 };
    },
  };
  const { check, clock } = setUp({ http: rejectingHttp });
  const isVerified = async (token: string) => {
    const requestsBefore = requestCount;
    await check.passes(token, ADDRESS);
    return requestCount > requestsBefore;
  };
  assert.equal(await isVerified("a"), true);
  await clock.advance(599_999);
  assert.equal(await isVerified("a"), false);
  await clock.advance(1);
  assert.equal(await isVerified("a"), true);
  for (let index = 0; index < 10_001; index++) await isVerified(`filler ${index}`);
  assert.equal(await isVerified("a"), true, "the oldest token was evicted");
});

test("dummyBotCheck accepts only the published test token, any number of times", async () => {
  for (let i = 0; i < 3; i++) assert.equal(await dummyBotCheck.passes("XXXX.DUMMY.TOKEN.XXXX", ADDRESS), true);
  for (const token of ["", "xxxx.dummy.token.xxxx", "XXXX.DUMMY.TOKEN.XXXX ", "0.real"])
    assert.equal(await dummyBotCheck.passes(token, ADDRESS), false);
});

test("isTestSecret recognises the three published test secrets", () => {
  for (const digit of ["1", "2", "3"])
    assert.equal(isTurnstileTestSecret(`${digit}x0000000000000000000000000000000AA`), true);
  assert.equal(isTurnstileTestSecret(TURNSTILE_SECRET), false);
});
