import assert from "node:assert/strict";
import http from "node:http";
import net, { type Socket } from "node:net";
import { after, mock, test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { TEST_CERTIFICATE } from "../../../test/support/webhooks/certificate.ts";
import { dialLoopback, startReceiver, startTcpServer } from "../../../test/support/webhooks/receiver.ts";
import { spellForbiddenHosts } from "../../../test/support/webhooks/spellings.ts";
import { dialTcp, GuardedAgent, type GuardedRequestOptions, type GuardPorts } from "./guarded-agent.ts";
import { createWebhookHttp, type WebhookHttpOptions } from "./webhook-http.ts";

const PUBLIC = "93.184.215.14";
const FORBIDDEN_RESULT = { kind: "failed", failure: "forbidden_address" };

/** Accepts TLS on loopback. A test that reaches it over a forbidden address has failed. */
const canary = await startReceiver((_request, response) => void response.end(), { isSecure: true });
const connect = mock.method(net.Socket.prototype, "connect");
after(() => canary.close());

function createSender(options: Partial<WebhookHttpOptions>) {
  const sender = createWebhookHttp(new FakeClock(), {
    allowsLoopback: false,
    hostRate: 100_000,
    ca: TEST_CERTIFICATE.cert,
    ...options,
  });
  return {
    post: async (url: string) => (await sender.post({ url, headers: {}, body: "{}", deadlineMs: 15_000 })).answer,
    close: () => sender.close(),
  };
}

/** Requests a URL without the check of URLs, so that only the agent can refuse it. */
function requestWithAgent(url: URL, agent: GuardedAgent): Promise<string> {
  const options: GuardedRequestOptions = { connectSignal: new AbortController().signal, sharedBy: undefined };
  return new Promise((resolve) => {
    http
      .request(url, { agent, ...options })
      .on("response", () => resolve("answered"))
      .on("error", (error) => resolve(error.name))
      .end();
  });
}

test("refuses more than 5,000 spellings of non-public hosts without a connection attempt", async () => {
  const hosts = spellForbiddenHosts();
  assert.ok(hosts.length > 5_000, `${hosts.length} spellings`);
  const { dial, dialled } = dialLoopback(canary.port);
  const sender = createSender({ dial, resolveHost: async () => ["127.0.0.1"] });
  const before = connect.mock.callCount();
  for (const host of hosts)
    for (const url of [
      `https://${host}/`,
      `HTTPS://${host}:8443/a`,
      `https://${host}:${canary.port}/`,
      `http://${host}/`,
    ])
      assert.deepEqual(await sender.post(url), FORBIDDEN_RESULT, url);
  assert.deepEqual(dialled, []);
  assert.equal(connect.mock.callCount(), before);
  assert.equal(canary.connections.length, 0);
});

test("the agent alone refuses every spelling that a URL parser accepts, without a connection attempt", async () => {
  const { dial, dialled } = dialLoopback(canary.port);
  const agent = new GuardedAgent("http:", { dial, resolveHost: async () => ["127.0.0.1"], allowsLoopback: false });
  const urls = spellForbiddenHosts().map((host) => `http://${host}/`);
  const accepted = urls.filter((url) => URL.canParse(url));
  assert.ok(accepted.length > 4_000, `${accepted.length} of ${urls.length} URLs`);
  for (const url of accepted) assert.equal(await requestWithAgent(new URL(url), agent), "ForbiddenAddressError", url);
  assert.deepEqual(dialled, []);
  assert.equal(canary.connections.length, 0);
});

test("a name that alternates between a public and a loopback address is refused at each loopback answer", async () => {
  const { dial, dialled } = dialLoopback(canary.port);
  let queries = 0;
  const sender = createSender({ dial, resolveHost: async () => [queries++ % 2 === 0 ? PUBLIC : "127.0.0.1"] });
  const before = canary.connections.length;
  for (let round = 0; round < 100; round++) {
    const result = await sender.post("https://hooks.example/");
    if (round % 2 === 0) assert.equal(result.kind, "answered");
    else assert.deepEqual(result, FORBIDDEN_RESULT);
  }
  assert.equal(queries, 100);
  assert.deepEqual(
    dialled,
    Array.from({ length: 50 }, () => [PUBLIC]),
  );
  assert.equal(canary.connections.length, before + 50);
});

test("refuses a host if any of its addresses is forbidden", async () => {
  const { dial, dialled } = dialLoopback(canary.port);
  const answers: readonly (readonly string[])[] = [
    [PUBLIC, "127.0.0.1"],
    ["127.0.0.1", PUBLIC],
    [PUBLIC, "::1"],
    ["2606:2800:21f:cb07::1", "10.0.0.1"],
    [PUBLIC, "2606:2800:21f:cb07::1", "fe80::1%eth0"],
    [...Array.from({ length: 20 }, (_, index) => `93.184.215.${index}`), "169.254.169.254"],
    ["::ffff:127.0.0.1"],
    ["64:ff9b::7f00:1"],
    // A CNAME whose target is a name, as a resolver could return it.
    ["localhost"],
    [PUBLIC, "internal.example"],
    [PUBLIC, ""],
  ];
  for (const addresses of answers) {
    const sender = createSender({ dial, resolveHost: async () => addresses });
    assert.deepEqual(await sender.post("https://hooks.example/"), FORBIDDEN_RESULT, addresses.join());
  }
  assert.deepEqual(dialled, []);
});

test("a name without an address and a failed lookup are reported as connection failures", async () => {
  for (const resolveHost of [async () => [], () => Promise.reject(new Error("SERVFAIL"))]) {
    const result = await createSender({ resolveHost }).post("https://hooks.example/");
    assert.deepEqual(result, { kind: "failed", failure: "connection_failed" });
  }
});

test("connects to at most four addresses, all of them checked, and to no name", async () => {
  const { dial, dialled } = dialLoopback(canary.port);
  const addresses = Array.from({ length: 9 }, (_, index) => `93.184.215.${index}`);
  await createSender({ dial, resolveHost: async () => addresses }).post("https://hooks.example/");
  assert.deepEqual(dialled, [addresses.slice(0, 4)]);
});

test("a peer whose address was not checked receives no byte", async () => {
  const peer = await startTcpServer((socket) => void socket.resume());
  const dial = () => net.connect({ host: "127.0.0.1", port: peer.port });
  const ports: GuardPorts = { dial, resolveHost: async () => [PUBLIC], allowsLoopback: false };
  assert.deepEqual(await createSender(ports).post("https://hooks.example/"), FORBIDDEN_RESULT);
  assert.equal(
    await requestWithAgent(new URL("http://hooks.example/"), new GuardedAgent("http:", ports)),
    "ForbiddenAddressError",
  );
  await peer.close();
  assert.equal(peer.connections.length, 2);
  for (const socket of peer.connections) assert.equal((socket as Socket).bytesRead, 0);
});

test("a sandbox can reach loopback only by the name localhost, and no private address", async () => {
  const { dial, dialled } = dialLoopback(canary.port);
  const sender = createSender({ dial, allowsLoopback: true, resolveHost: async () => ["127.0.0.1"] });
  for (const url of ["https://hooks.example/", "https://10.0.0.1/", "https://[fe80::1]/", "http://169.254.169.254/"])
    assert.deepEqual(await sender.post(url), FORBIDDEN_RESULT, url);
  assert.deepEqual(dialled, []);
  assert.equal((await sender.post("https://localhost/")).kind, "answered");
  assert.deepEqual(dialled, [["127.0.0.1", "0:0:0:0:0:0:0:1"]]);
});

test("a connection tries the next address if the first one refuses it", async () => {
  const receiver = await startReceiver((_request, response) => void response.end());
  const sender = createSender({
    allowsLoopback: true,
    dial: (_addresses, port) => dialTcp(["::1", "127.0.0.1"], port),
  });
  assert.equal((await sender.post(`http://localhost:${receiver.port}/`)).kind, "answered");
  await sender.close();
  await receiver.close();
});
