import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, test } from "node:test";
import {
  completion,
  type ReceivedRequest,
  respond,
  startLocalServer,
} from "../../../test/support/research/local-server.ts";
import { LanguageModelError } from "../../ports/language-model.ts";
import { createLanguageModel } from "./language-model.ts";

const KEY = "sk-canary-0123456789";
let handle: (request: ReceivedRequest, response: ServerResponse) => void = () => {};
const server = await startLocalServer((request, response) => handle(request, response));
after(() => server.close());

const model = createLanguageModel({
  provider: "compatible",
  model: "local",
  baseUrl: `${server.origin}/v1`,
  apiKey: KEY,
  price: { input: 1, output: 2 },
});
const call = { system: "You judge.", prompt: "How likely?", outputTokensMax: 50, signal: new AbortController().signal };

/** The failure of one call; the message may repeat neither the key nor the prompt. */
async function failureOf(signal = call.signal): Promise<string> {
  const error = await model.complete({ ...call, signal }).then(
    () => assert.fail("the call succeeded"),
    (cause: unknown) => cause,
  );
  assert.ok(error instanceof LanguageModelError);
  assert.doesNotMatch(`${error.stack}${JSON.stringify(error)}${String(error.cause)}`, /canary|How likely|secret/);
  return error.failure;
}

test("sends one request with bounded output and no tools to a compatible server", async () => {
  handle = (_request, response) => respond(response, completion("An answer"));
  assert.deepEqual(await model.complete(call), {
    text: "An answer",
    inputTokens: 120,
    outputTokens: 30,
    finish: "complete",
  });
  const [request, ...others] = server.requests;
  assert.deepEqual(others, []);
  const body = JSON.parse(request?.body ?? "");
  assert.deepEqual([request?.url, request?.headers.authorization], ["/v1/chat/completions", `Bearer ${KEY}`]);
  assert.deepEqual([body.model, body.max_tokens, body.tools, body.stream], ["local", 50, undefined, undefined]);
  assert.deepEqual(body.messages, [
    { role: "system", content: "You judge." },
    { role: "user", content: "How likely?" },
  ]);
});

test("reports answers that were cut off or refused", async () => {
  handle = (_request, response) => respond(response, completion("Half", "length"));
  assert.equal((await model.complete(call)).finish, "cut_off");
  handle = (_request, response) => respond(response, completion("", "content_filter"));
  assert.equal((await model.complete(call)).finish, "refused");
});

test("errors contain the kind of failure but not the key, the prompt or the response, and no request is retried", async () => {
  const cases: readonly [number, string, string, string][] = [
    [401, "application/json", '{"error":{"message":"secret bad key"}}', "unauthorized"],
    [429, "application/json", '{"error":{"message":"secret slow down"}}', "rate_limited"],
    [500, "text/html", "<h1>secret</h1>", "unavailable"],
    [400, "application/json", `{"error":{"message":"secret ${KEY}"}}`, "bad_response"],
    [200, "text/html", "<h1>secret</h1>", "bad_response"],
    [200, "application/json", '{"choices":[]}', "bad_response"],
    [200, "application/json", "", "bad_response"],
  ];
  for (const [status, type, body, failure] of cases) {
    const before = server.requests.length;
    handle = (_request, response) => respond(response, body, type, status);
    assert.equal(await failureOf(), failure, `${status} ${body}`);
    assert.equal(server.requests.length, before + 1);
  }
  handle = (_request, response) => void response.destroy();
  assert.equal(await failureOf(), "unavailable");
});

test("does not follow a redirect, which would send the key to another server", async () => {
  const other = await startLocalServer((_request, response) => respond(response, completion("Stolen")));
  try {
    handle = (_request, response) => void response.writeHead(307, { location: `${other.origin}/v1` }).end();
    assert.notEqual(await failureOf(), "aborted");
    assert.deepEqual(other.requests, []);
  } finally {
    await other.close();
  }
});

test("ends an endless response at its size limit, and a response that never begins when the signal aborts", async () => {
  handle = (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const send = () => {
      while (response.write(" ".repeat(65_536)));
    };
    response.on("drain", send);
    send();
  };
  assert.notEqual(await failureOf(), "aborted");
  const controller = new AbortController();
  handle = () => controller.abort();
  assert.equal(await failureOf(controller.signal), "aborted");
});

test("removes the key from an answer of a server that sends it back", async () => {
  handle = (request, response) => respond(response, completion(`Your header is ${request.headers.authorization}`));
  assert.equal((await model.complete(call)).text, "Your header is Bearer [redacted]");
});

test("hosted providers get the key in their own header at their own address", async () => {
  const requests: { url: string; headers: Headers; redirect: string | undefined }[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    requests.push({ url: String(input), headers: new Headers(init?.headers), redirect: init?.redirect });
    return new Response("{}", { status: 503 });
  };
  for (const provider of ["anthropic", "openai"] as const) {
    const hosted = createLanguageModel(
      { provider, model: "some-model", baseUrl: null, apiKey: KEY, price: { input: 1, output: 2 } },
      fetch,
    );
    await assert.rejects(hosted.complete(call), LanguageModelError);
    assert.equal(hosted.name, `${provider}/some-model`);
  }
  assert.deepEqual(
    requests.map(({ url, headers, redirect }) => [
      new URL(url).host,
      headers.get("x-api-key") ?? headers.get("authorization"),
      redirect,
    ]),
    [
      ["api.anthropic.com", KEY, "error"],
      ["api.openai.com", `Bearer ${KEY}`, "error"],
    ],
  );
});
