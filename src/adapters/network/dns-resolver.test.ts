import assert from "node:assert/strict";
import { after, test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { TEST_CERTIFICATE } from "../../../test/support/webhooks/certificate.ts";
import {
  addressRecords,
  type DnsAnswer,
  type DnsQuestion,
  startDnsServer,
} from "../../../test/support/webhooks/dns-server.ts";
import { dialLoopback, startReceiver } from "../../../test/support/webhooks/receiver.ts";
import { createDnsResolver } from "./guarded-agent.ts";
import { createWebhookHttp } from "./webhook-http.ts";

const PUBLIC = "93.184.215.14";
const PUBLIC_IPV6 = "2606:2800:21f:cb07::1";
const SHORT_TIMEOUT_MS = 50;
const FORBIDDEN = { kind: "failed", failure: "forbidden_address" };
const UNREACHABLE = { kind: "failed", failure: "connection_failed" };
const closers: (() => Promise<void>)[] = [];
after(() => Promise.all(closers.map((close) => close())));

/** The resolver of the service, which asks a DNS server of the test. */
async function openResolver(answer: (question: DnsQuestion) => DnsAnswer, timeoutMs?: number) {
  const server = await startDnsServer(answer);
  closers.push(() => server.close());
  const resolveHost = createDnsResolver({
    servers: [server.address],
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  return { resolveHost, questions: server.questions };
}

/** A sender with that resolver, and a receiver that is reached at every permitted address. */
async function openSender(answer: (question: DnsQuestion) => DnsAnswer, timeoutMs?: number) {
  const { resolveHost } = await openResolver(answer, timeoutMs);
  const receiver = await startReceiver((_request, response) => void response.end(), { isSecure: true });
  const { dial, dialled } = dialLoopback(receiver.port);
  const sender = createWebhookHttp(new FakeClock(), {
    resolveHost,
    dial,
    allowsLoopback: false,
    hostRate: 1_000,
    ca: TEST_CERTIFICATE.cert,
  });
  closers.push(() => sender.close(), receiver.close);
  const request = { url: "https://hooks.example/", headers: {}, body: "{}", deadlineMs: 15_000 };
  const post = async () => (await sender.post(request)).answer;
  return { post, dialled, receiver };
}

const withAddresses =
  (...addresses: readonly string[]) =>
  (question: DnsQuestion): DnsAnswer =>
    addressRecords(question, addresses);

test("returns all IPv4 and IPv6 addresses of a name, and asks for exactly that name", async () => {
  const { resolveHost, questions } = await openResolver(withAddresses(PUBLIC, PUBLIC_IPV6, "10.0.0.1", "::1"));
  assert.deepEqual(
    (await resolveHost("hooks.example")).toSorted(),
    [PUBLIC, PUBLIC_IPV6, "10.0.0.1", "::1"].toSorted(),
  );
  assert.deepEqual(questions.map(({ name, type }) => `${name} ${type}`).toSorted(), [
    "hooks.example A",
    "hooks.example AAAA",
  ]);
});

test("a name with addresses of only one family resolves to these addresses", async () => {
  for (const address of [PUBLIC, PUBLIC_IPV6]) {
    const { resolveHost } = await openResolver(withAddresses(address));
    assert.deepEqual(await resolveHost("hooks.example"), [address]);
  }
});

test("follows a CNAME to the addresses of its target", async () => {
  const { resolveHost } = await openResolver((question) => [
    { name: question.name, type: "CNAME", value: "target.example" },
    ...addressRecords({ ...question, name: "target.example" }, [PUBLIC]),
  ]);
  assert.deepEqual(await resolveHost("hooks.example"), [PUBLIC]);
});

test("an unknown name, a name without addresses, a failing server and a malformed answer are errors", async () => {
  for (const answer of ["NXDOMAIN", "NOERROR", "SERVFAIL", "malformed"] as const) {
    const { resolveHost } = await openResolver(() => answer, SHORT_TIMEOUT_MS);
    await assert.rejects(resolveHost("hooks.example"), { message: "the host has no address" }, answer);
  }
});

test("sends two queries per address family to a server that does not answer, then throws", async () => {
  const { resolveHost, questions } = await openResolver(() => "silent", SHORT_TIMEOUT_MS);
  await assert.rejects(resolveHost("hooks.example"), { message: "the host has no address" });
  assert.equal(questions.length, 4);
});

test("does not read /etc/hosts", async () => {
  const { resolveHost, questions } = await openResolver(() => "NXDOMAIN");
  await assert.rejects(resolveHost("localhost"));
  assert.deepEqual([...new Set(questions.map(({ name }) => name))], ["localhost"]);
});

test("a request reaches a host with public addresses, even if one family has no answer", async () => {
  const { post, dialled } = await openSender(withAddresses(PUBLIC, PUBLIC_IPV6));
  assert.equal((await post()).kind, "answered");
  assert.deepEqual(dialled, [[PUBLIC, "2606:2800:21f:cb07:0:0:0:1"]]);
  const silent = await openSender(
    (question) => (question.type === "A" ? addressRecords(question, [PUBLIC]) : "silent"),
    SHORT_TIMEOUT_MS,
  );
  assert.equal((await silent.post()).kind, "answered");
});

test("a host with any non-public address is refused without a connection attempt, for every kind of record", async () => {
  const answers: readonly (readonly string[])[] = [
    [PUBLIC, "127.0.0.1"],
    ["127.0.0.1", PUBLIC],
    ["10.0.0.1"],
    [PUBLIC, "::1"],
    [PUBLIC_IPV6, "169.254.169.254"],
    [PUBLIC, "::ffff:127.0.0.1"],
    ["64:ff9b::7f00:1"],
    ["fe80::1"],
  ];
  for (const addresses of answers) {
    const direct = await openSender(withAddresses(...addresses));
    const alias = await openSender((question) => [
      { name: question.name, type: "CNAME", value: "internal.example" },
      ...addressRecords({ ...question, name: "internal.example" }, addresses),
    ]);
    for (const { post, dialled, receiver } of [direct, alias]) {
      assert.deepEqual(await post(), FORBIDDEN, addresses.join());
      assert.deepEqual(dialled, []);
      assert.equal(receiver.connections.length, 0);
    }
  }
});

test("an unknown name and a silent server are reported as connection failures", async () => {
  for (const answer of ["NXDOMAIN", "silent"] as const) {
    const { post, dialled } = await openSender(() => answer, SHORT_TIMEOUT_MS);
    assert.deepEqual(await post(), UNREACHABLE);
    assert.deepEqual(dialled, []);
  }
});
