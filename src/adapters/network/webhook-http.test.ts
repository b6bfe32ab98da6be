import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import net, { type Socket } from "node:net";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { TEST_CERTIFICATE } from "../../../test/support/webhooks/certificate.ts";
import { dialLoopback, type Receiver, startReceiver, startTcpServer } from "../../../test/support/webhooks/receiver.ts";
import type { WebhookAnswer, WebhookAttempt, WebhookRequest } from "../../ports/webhook-out.ts";
import { type Dial, dialTcp } from "./guarded-agent.ts";
import { createWebhookHttp, type WebhookHttpOptions } from "./webhook-http.ts";

const closers: (() => Promise<void>)[] = [];
after(() => Promise.all(closers.map((close) => close())));

const clock = new FakeClock();
const DEADLINE_MS = 15_000;

function createSender(options: Partial<WebhookHttpOptions> = {}) {
  const out = createWebhookHttp(clock, { allowsLoopback: true, hostRate: 1_000, ...options });
  closers.push(() => out.close());
  return {
    out,
    post: async (outgoing: WebhookRequest): Promise<WebhookAnswer> => (await out.post(outgoing)).answer,
    close: () => out.close(),
  };
}

async function startServer(...parameters: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(...parameters);
  closers.push(() => receiver.close());
  return receiver;
}

async function startRawServer(handle?: (socket: Socket) => void) {
  const server = await startTcpServer(handle);
  closers.push(() => server.close());
  return server;
}

const request = (url: string, customerId?: string) => ({
  url,
  headers: { "webhook-id": "msg-1" },
  body: '{"a":"é"}',
  deadlineMs: DEADLINE_MS,
  ...(customerId === undefined ? {} : { customerId }),
});
const local = (port: number) => `http://127.0.0.1:${port}/in?x=1`;
const failed = (failure: string) => ({ kind: "failed", failure });
const sender = createSender();
/** One request at a time; others wait. */
const ONE_SLOT = { total: 1, perHost: 1, waiting: 9, waitingPerHost: 9 };

test("sends the headers and the exact body, and returns the status and the start of the response", async () => {
  const receiver = await startServer((_request, response) => void response.writeHead(202).end("\0ok"));
  assert.deepEqual(await sender.post(request(local(receiver.port))), {
    kind: "answered",
    status: 202,
    retryAt: null,
    bodyHead: "\ufffdok",
  });
  const [received] = receiver.requests;
  assert.equal(received?.body, '{"a":"é"}');
  assert.equal(received?.headers["webhook-id"], "msg-1");
  assert.equal(received?.headers["content-type"], "application/json");
  assert.equal(received?.headers["accept-encoding"], undefined);
});

test("requests to slow receivers have separate slots", async () => {
  // Without a place to wait, a request that finds no slot is refused at once.
  const limits = { total: 1, perHost: 1, waiting: 0, waitingPerHost: 0 };
  for (const [health, otherHealth] of [
    ["slow", "failing"],
    ["failing", "slow"],
  ] as const) {
    const narrow = createSender({ limits, slowLimits: limits });
    const held: ServerResponse[] = [];
    const holding = await startServer((_request, response) => void held.push(response));
    const other = await startServer((_request, response) => void response.end("ok"));
    const pending = narrow.post({ ...request(local(holding.port)), health });
    await holding.untilRequests(1);
    assert.deepEqual(await narrow.post({ ...request(local(other.port)), health }), failed("unavailable"));
    assert.equal((await narrow.post({ ...request(local(other.port)), health: otherHealth })).kind, "answered");
    held[0]?.end("late");
    assert.equal((await pending).kind, "answered");
  }
});

test("a request frees its slot after 100 ms, or when the request ends if the receiver is known to be slow", async () => {
  const receiver = await startServer(() => {});
  for (const health of ["healthy", "slow"] as const) {
    const { out } = createSender({ limits: ONE_SLOT, slowLimits: ONE_SLOT });
    const started: string[] = [];
    const post = (name: string) =>
      out.post({ ...request(local(receiver.port)), health, onStart: () => void started.push(name) });
    const answers = [post("first"), post("second")];
    await receiver.untilRequests(health === "slow" ? 3 : 1);
    await clock.advance(99);
    assert.deepEqual(started, ["first"]);
    await clock.advance(1);
    assert.deepEqual(started, health === "slow" ? ["first"] : ["first", "second"]);
    if (health === "healthy") await receiver.untilRequests(2);
    await clock.advance(DEADLINE_MS);
    await Promise.all(answers);
  }
});

test("does not follow redirects", async () => {
  const canary = await startServer((_request, response) => void response.end());
  for (const status of [301, 302, 303, 307, 308]) {
    const receiver = await startServer((_request, response) => {
      response.writeHead(status, { location: `http://127.0.0.1:${canary.port}/` }).end();
    });
    assert.deepEqual(await sender.post(request(local(receiver.port))), {
      kind: "answered",
      status,
      retryAt: null,
      bodyHead: "",
    });
  }
  assert.equal(canary.connections.length, 0);
});

test("reads Retry-After as seconds", async () => {
  const receiver = await startServer(
    (_request, response) => void response.writeHead(429, { "retry-after": "7" }).end(),
  );
  const answer = await sender.post(request(local(receiver.port)));
  assert.equal(answer.kind === "answered" && answer.retryAt, clock.now() + 7_000);
});

test("ends an endless body and a compressed body of many megabytes, and returns their first bytes as sent", async () => {
  const endless = await startServer((_request, response) => {
    const write = () => {
      while (!response.destroyed && response.write("x".repeat(8_192)));
    };
    response.on("drain", write);
    write();
  });
  const answer = await sender.post(request(local(endless.port), "cus-1"));
  assert.deepEqual(answer, { kind: "answered", status: 200, retryAt: null, bodyHead: "x".repeat(1_024) });
  await untilClosed(endless.connections[0]);

  const bomb = gzipSync(Buffer.alloc(50_000_000));
  const zipped = await startServer((_request, response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
  });
  const zippedAnswer = await sender.post(request(local(zipped.port)));
  assert.ok(zippedAnswer.kind === "answered" && zippedAnswer.bodyHead.startsWith("\u001f\ufffd"));
  assert.ok(zippedAnswer.bodyHead.length <= 1_024);
});

test("a character at the limit of the first 1 KiB is not cut in half", async () => {
  const receiver = await startServer((_request, response) => void response.end(`${"x".repeat(1_023)}é`));
  const answer = await sender.post(request(local(receiver.port)));
  assert.equal(answer.kind === "answered" && answer.bodyHead, "x".repeat(1_023));
});

test("refuses headers above 16 KiB and responses that are not HTTP", async () => {
  const large = await startServer((_request, response) => {
    response.writeHead(200, { "x-large": "x".repeat(20_000) }).end();
  });
  assert.deepEqual(await sender.post(request(local(large.port))), failed("bad_response"));
  const ssh = await startRawServer((socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n"));
  assert.deepEqual(await sender.post(request(local(ssh.port))), failed("bad_response"));
  const early = await startServer((_request, response) => {
    response.writeEarlyHints({ link: "</a>; rel=preload" });
    response.writeHead(204).end();
  });
  const answer = await sender.post(request(local(early.port)));
  assert.equal(answer.kind === "answered" && answer.status, 204);
});

test("a connection that is refused, closed or switched to another protocol gives exactly one result", async () => {
  const gone = await startTcpServer();
  await gone.close();
  const closing = await startRawServer((socket) => socket.destroy());
  const upgrading = await startRawServer((socket) => {
    socket.on("data", () => socket.write("HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"));
  });
  for (const { port } of [gone, closing, upgrading])
    assert.deepEqual(await sender.post(request(local(port))), failed("connection_failed"));
});

test("the deadline ends the DNS lookup, the connection, the TLS handshake and the wait for a response", async () => {
  const silent = await startRawServer();
  const mute = await startServer(() => {});
  const resolveHost = async () => ["93.184.215.14"];
  const https = request("https://hooks.example/");
  const cases: [Partial<WebhookHttpOptions>, ReturnType<typeof request>, () => Promise<unknown>][] = [
    [{ resolveHost: () => new Promise(() => {}) }, https, async () => {}],
    [{ resolveHost, dial: () => new net.Socket() }, https, async () => {}],
    [{ resolveHost, dial: dialLoopback(silent.port).dial }, https, async () => {}],
    [{}, request(local(mute.port)), () => mute.untilRequests(1)],
  ];
  for (const [options, outgoing, isReached] of cases) {
    const answer = createSender(options).post(outgoing);
    await isReached();
    await clock.advance(DEADLINE_MS - 1);
    assert.equal(await Promise.race([answer, "pending"]), "pending");
    await clock.advance(1);
    assert.deepEqual(await answer, failed("timeout"));
  }
});

test("a slow body is cut off at the deadline, and the response keeps its status", async () => {
  const receiver = await startServer((_request, response) => void response.writeHead(200).write("a"));
  const dialled = Promise.withResolvers<Socket>();
  const dial: Dial = (addresses, port) => {
    const socket = dialTcp(addresses, port);
    dialled.resolve(socket);
    return socket;
  };
  const answer = createSender({ dial }).post(request(local(receiver.port)));
  await once(await dialled.promise, "data");
  await clock.advance(DEADLINE_MS);
  assert.deepEqual(await answer, { kind: "answered", status: 200, retryAt: null, bodyHead: "a" });
  await untilClosed(receiver.connections[0]);
});

async function untilClosed(socket: Socket | undefined): Promise<void> {
  if (socket?.destroyed === false) await new Promise((resolve) => socket.once("close", resolve));
}

test("accepts only certificates of a trusted authority for the host name, and sends the name as SNI and Host", async () => {
  const receiver = await startServer((_request, response) => void response.end(), { isSecure: true });
  const { dial, dialled } = dialLoopback(receiver.port);
  const resolveHost = async () => ["93.184.215.14"];
  const untrusting = createSender({ resolveHost, dial });
  assert.deepEqual(await untrusting.post(request("https://hooks.example/")), failed("connection_failed"));
  const trusting = createSender({ resolveHost, dial, ca: TEST_CERTIFICATE.cert });
  assert.deepEqual(await trusting.post(request("https://other.example/")), failed("connection_failed"));
  assert.deepEqual(await trusting.post(request("https://93.184.215.14/")), failed("connection_failed"));
  assert.equal(receiver.requests.length, 0);
  const answer = await trusting.post(request("https://hooks.example/"));
  assert.equal(answer.kind, "answered");
  assert.equal(receiver.requests[0]?.headers.host, "hooks.example");
  assert.equal(dialled.length, 4);
});

test("reuses a connection for the same customer only", async () => {
  const receiver = await startServer((_request, response) => void response.end());
  const connectionsAfter = async (customerId?: string) => {
    await sender.post(request(local(receiver.port), customerId));
    return receiver.connections.length;
  };
  assert.equal(await connectionsAfter("cus-1"), 1);
  assert.equal(await connectionsAfter("cus-1"), 1);
  assert.equal(await connectionsAfter("cus-2"), 2);
  assert.equal(await connectionsAfter(), 3);
  assert.equal(await connectionsAfter(), 4);
});

test("resends a request on a new connection if the receiver has closed the reused one", async () => {
  const RESPONSE = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
  let requests = 0;
  const receiver = await startRawServer((socket) => {
    let onThisSocket = 0;
    socket.on("data", () => {
      requests++;
      if (++onThisSocket === 1) socket.write(RESPONSE);
      else socket.resetAndDestroy();
    });
  });
  for (const expected of [1, 3]) {
    const answer = await sender.post(request(local(receiver.port), "cus-1"));
    assert.equal(answer.kind, "answered");
    assert.equal(requests, expected);
  }
});

test("bounds the requests per host, and refuses requests beyond the queue without contacting the receiver", async () => {
  const held: (() => void)[] = [];
  const receiver = await startServer((_request, response) => void held.push(() => response.end()));
  const limited = createSender({ limits: { total: 3, perHost: 2, waiting: 3, waitingPerHost: 3 } });
  const answers = Array.from({ length: 6 }, () => limited.post(request(local(receiver.port))));
  assert.deepEqual(await answers[5], failed("unavailable"));
  await receiver.untilRequests(2);
  assert.equal(receiver.connections.length, 2);
  for (let arrived = 2; arrived <= 5; arrived++) {
    await receiver.untilRequests(arrived);
    held.shift()?.();
  }
  held.shift()?.();
  for (const answer of await Promise.all(answers.slice(0, 5))) assert.equal(answer.kind, "answered");
});

test("a request waits at most ten seconds for a slot, and the end of that wait is not a failure of the receiver", async () => {
  const receiver = await startServer(() => {});
  const { out } = createSender({ slowLimits: ONE_SLOT });
  const first = out.post({ ...request(local(receiver.port)), health: "slow" });
  const second = out.post({ ...request(local(receiver.port)), health: "slow", deadlineMs: 500 });
  await receiver.untilRequests(1);
  await clock.advance(9_999);
  assert.equal(await Promise.race([second, "pending"]), "pending");
  await clock.advance(1);
  assert.deepEqual(await second, { answer: failed("unavailable"), timing: null });
  await clock.advance(DEADLINE_MS - 10_000);
  assert.deepEqual((await first).answer, failed("timeout"));
  assert.equal(receiver.connections.length, 1);
});

test("the deadline and the duration of a request begin when it has its slot", async () => {
  const held: ServerResponse[] = [];
  const receiver = await startServer((_request, response) => void held.push(response));
  const { out } = createSender({ slowLimits: ONE_SLOT });
  const startedAt = clock.now();
  const slowRequest = { ...request(local(receiver.port)), health: "slow" as const };
  const [first, second, third] = Array.from({ length: 3 }, () => out.post(slowRequest));
  await receiver.untilRequests(1);
  await clock.advance(4_000);
  held[0]?.end();
  assert.deepEqual((await first)?.timing, { startedAt, durationMs: 4_000 });
  await receiver.untilRequests(2);
  await clock.advance(5_000);
  held[1]?.end();
  assert.deepEqual((await second)?.timing, { startedAt: startedAt + 4_000, durationMs: 5_000 });
  await receiver.untilRequests(3);
  await clock.advance(DEADLINE_MS - 1);
  assert.equal(await Promise.race([third, "pending"]), "pending");
  await clock.advance(1);
  const timing = { startedAt: startedAt + 9_000, durationMs: DEADLINE_MS };
  assert.deepEqual(await third, { answer: failed("timeout"), timing });
});

test("durations exclude the wait for the rate limit of the host, and a forbidden URL has a duration of zero", async () => {
  const receiver = await startServer((_request, response) => void response.end());
  const { out } = createSender({ hostRate: 1 });
  const posts = Array.from({ length: 7 }, () => out.post(request(local(receiver.port))));
  assert.equal((await posts[0])?.answer.kind, "answered");
  assert.deepEqual(await posts[6], { answer: failed("unavailable"), timing: null });
  const startedAt = clock.now() + 1_000;
  await clock.advance(1_000);
  assert.deepEqual((await posts[1])?.timing, { startedAt, durationMs: 0 });
  const timing = { startedAt: clock.now(), durationMs: 0 };
  assert.deepEqual(await out.post(request("not a url")), { answer: failed("forbidden_address"), timing });
});

test("a host that was slow receives no more requests than its rate limit", async () => {
  const held: ServerResponse[] = [];
  let isHolding = true;
  const receiver = await startServer((_request, response) => void (isHolding ? held.push(response) : response.end()));
  const { out } = createSender({ hostRate: 4, limits: { total: 2, perHost: 2, waiting: 99, waitingPerHost: 99 } });
  const posts = Array.from({ length: 8 }, (_, index) => out.post(request(local(receiver.port), `cus-${index}`)));
  await receiver.untilRequests(2);
  await clock.advance(240);
  isHolding = false;
  for (const response of held) response.end();
  await receiver.untilRequests(4);
  await clock.settle();
  assert.equal(receiver.requests.length, 4, "the burst");
  await clock.advance(1_000);
  await Promise.all(posts);
  assert.equal(receiver.requests.length, 8);
});

test("at most 2,048 requests wait or run, and at most 128 of them are of one customer", async () => {
  const limits = { total: 9_999, perHost: 9_999, waiting: 0, waitingPerHost: 0 };
  const dial: Dial = () => new net.Socket();
  const { out } = createSender({ limits, dial, hostRate: 1e6 });
  const results: WebhookAttempt[] = [];
  const post = (customer: string) =>
    void out.post(request("https://93.184.215.14/", customer)).then((result) => results.push(result));
  for (let index = 0; index < 200; index++) post("ann");
  await clock.settle();
  assert.equal(results.length, 72);
  for (let index = 0; index < 2_000; index++) post(`cus-${index}`);
  await clock.settle();
  assert.equal(results.length, 72 + 2_000 - (2_048 - 128));
  await out.close();
});

test("close ends requests that wait for the rate limit of their host", async () => {
  const receiver = await startServer((_request, response) => void response.end());
  const { out } = createSender({ hostRate: 1 });
  const posts = Array.from({ length: 3 }, () => out.post(request(local(receiver.port))));
  await posts[0];
  await out.close();
  for (const post of posts.slice(1)) assert.deepEqual(await post, { answer: failed("unavailable"), timing: null });
});

test("close ends pending requests and refuses new ones", async () => {
  const receiver = await startServer(() => {});
  const closing = createSender();
  const answer = closing.post(request(local(receiver.port)));
  await receiver.untilRequests(1);
  await closing.close();
  assert.deepEqual(await answer, failed("unavailable"));
  assert.deepEqual(await closing.post(request(local(receiver.port))), failed("unavailable"));
  assert.equal(receiver.requests.length, 1);
});

test("never throws, even for a header that HTTP does not allow", async () => {
  const receiver = await startServer((_request, response) => void response.end());
  const outgoing = { ...request(local(receiver.port)), headers: { "x-a": "a\r\nb: c" } };
  assert.deepEqual(await sender.post(outgoing), failed("connection_failed"));
  assert.deepEqual(await sender.post(request("not a url")), failed("forbidden_address"));
});
