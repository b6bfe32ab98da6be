import assert from "node:assert/strict";
import dns from "node:dns";
import type { ServerResponse } from "node:http";
import net from "node:net";
import { after, mock, test } from "node:test";
import { gzipSync } from "node:zlib";
import { type ReceivedRequest, startLocalServer } from "../../../test/support/research/local-server.ts";
import { addressRecords, startDnsServer } from "../../../test/support/webhooks/dns-server.ts";
import { dialLoopback } from "../../../test/support/webhooks/receiver.ts";
import { spellForbiddenHosts } from "../../../test/support/webhooks/spellings.ts";
import { createDnsResolver, type ResolveHost } from "../network/guarded-agent.ts";
import { fetchPage } from "./fetch-page.ts";

let handle: (request: ReceivedRequest, response: ServerResponse) => void = () => {};
const server = await startLocalServer((request, response) => handle(request, response));
const connect = mock.method(net.Socket.prototype, "connect");
after(() => server.close());

const { port } = new URL(server.origin);
const PUBLIC = "93.184.215.14";
/** Every connection reaches the server of this test; the addresses are checked before. */
const { dial } = dialLoopback(Number(port));
const LOCAL = { ports: [port], resolveHost: resolveTo([PUBLIC]), dial };
const origin = `http://pages.example:${port}`;
const { signal } = new AbortController();
const anyPort = ["", "80", "443", port];

/** Resolves every name to the given addresses, one list per look-up. */
function resolveTo(...answers: readonly (readonly string[])[]): ResolveHost {
  let asked = 0;
  return async () => answers[Math.min(asked++, answers.length - 1)] ?? [];
}

test("refuses every spelling of an address that is not public before a socket connects", async () => {
  const connections = connect.mock.callCount();
  for (const host of spellForbiddenHosts())
    for (const url of [`http://${host}/`, `http://${host}:${port}/`, `https://${host}/`])
      await assert.rejects(fetchPage(url, signal, { ports: anyPort }), Error, url);
  assert.equal(connect.mock.callCount(), connections);
  assert.deepEqual(server.requests, []);
});

test("refuses a name if any of its addresses is not public, at every look-up", async () => {
  const answers: readonly (readonly string[])[] = [
    ["127.0.0.1"],
    [PUBLIC, "127.0.0.1"],
    ["::ffff:127.0.0.1"],
    ["fe80::1"],
    ["::7f00:1"],
    ["10.0.0.1"],
  ];
  for (const addresses of answers) {
    const options = { ports: anyPort, resolveHost: resolveTo(addresses) };
    await assert.rejects(fetchPage(`http://rebound.example:${port}/`, signal, options), /could not be reached/);
  }
  for (const name of ["localhost", "LOCALHOST."])
    await assert.rejects(fetchPage(`http://${name}:${port}/`, signal, { ports: anyPort }), Error, name);
  assert.deepEqual(server.requests, []);
});

test("host names of pages are resolved by the DNS servers, not on the threads that read files", async () => {
  const lookup = mock.method(dns, "lookup");
  const dnsServer = await startDnsServer((question) => addressRecords(question, [PUBLIC]));
  after(() => dnsServer.close());
  const resolveHost = createDnsResolver({ servers: [dnsServer.address] });
  handle = (_request, response) => void response.writeHead(200, { "content-type": "text/plain" }).end("a page");
  const page = await fetchPage(origin, signal, { ...LOCAL, resolveHost });
  assert.equal(page.body, "a page");
  assert.equal(server.requests.at(-1)?.headers.connection, "close", "no later request can use the connection");
  // The default resolver sends no query for this name.
  await assert.rejects(fetchPage(`http://localhost:${port}/`, signal, { ports: anyPort }));
  assert.equal(lookup.mock.callCount(), 0);
  lookup.mock.restore();
});

test("checks every redirect again, even if a name resolves to another address the second time", async () => {
  const targets = [
    "http://169.254.169.254/latest",
    `http://[::1]:${port}/`,
    `http://10.0.0.1:${port}/`,
    "ftp://a.example/",
  ];
  for (const status of [301, 302, 303, 307, 308])
    for (const location of targets) {
      const before = connect.mock.callCount();
      handle = (_request, response) => void response.writeHead(status, { location }).end();
      await assert.rejects(fetchPage(`${origin}/`, signal, LOCAL), Error, location);
      assert.equal(connect.mock.callCount(), before + 1);
    }
  handle = (_request, response) => void response.writeHead(302, { location: "/again" }).end();
  const before = server.requests.length;
  const resolveHost = resolveTo([PUBLIC], ["10.0.0.1"]);
  await assert.rejects(
    fetchPage(`http://flips.example:${port}/`, signal, { ...LOCAL, resolveHost }),
    /could not be reached/,
  );
  assert.equal(server.requests.length, before + 1);
  await assert.rejects(fetchPage(`${origin}/`, signal, LOCAL), /too many redirects/);
  assert.equal(server.requests.length, before + 1 + 4);
});

test("refuses other schemes, other ports, user names and long URLs", async () => {
  const addresses = ["file:///etc/passwd", "data:text/html,x", "javascript:1", "ftp://a.example/", "not an address"];
  for (const address of [
    ...addresses,
    "http://a.example:22/",
    "http://u:p@a.example/",
    `http://a.example/${"x".repeat(3_000)}`,
  ])
    await assert.rejects(fetchPage(address, signal), /address|port/, address);
});

test("follows a redirect to an allowed address and decodes the page", async () => {
  handle = ({ url }, response) => {
    if (url === "/") response.writeHead(302, { location: "/page" }).end();
    else
      response
        .writeHead(200, { "content-type": "text/html; charset=latin1", "content-encoding": "gzip" })
        .end(gzipSync(Buffer.from("caf\xe9", "latin1")));
  };
  assert.deepEqual(await fetchPage(origin, signal, LOCAL), {
    url: `${origin}/page`,
    contentType: "text/html; charset=latin1",
    body: "café",
  });
  const request = server.requests.at(-1);
  assert.deepEqual(
    [request?.headers.cookie, request?.headers.authorization, request?.headers.referer],
    [undefined, undefined, undefined],
  );
});

test("rejects oversized pages, compression bombs, unknown encodings, other content types and error statuses", async () => {
  const send = (headers: Record<string, string>, body: Buffer | string, status = 200) => {
    handle = (_request, response) =>
      void response.writeHead(status, { "content-type": "text/html", ...headers }).end(body);
  };
  const load = () => fetchPage(origin, signal, LOCAL);
  send({}, "x".repeat(2_000_000));
  await assert.rejects(load(), /too large/);
  send({ "content-encoding": "gzip" }, gzipSync(Buffer.alloc(50_000_000)));
  await assert.rejects(load(), /too large/);
  handle = (_request, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    const write = () => {
      while (response.write("x".repeat(65_536)));
    };
    response.on("drain", write);
    write();
  };
  await assert.rejects(load(), /too large/);
  send({ "content-encoding": "gzip" }, "not compressed");
  await assert.rejects(load());
  send({ "content-encoding": "zstd" }, "x");
  await assert.rejects(load(), /unknown encoding/);
  send({ "content-type": "application/pdf" }, "x");
  await assert.rejects(load(), /not text/);
  send({}, "x", 404);
  await assert.rejects(load(), /status 404/);
  send({ "x-long": "x".repeat(20_000) }, "x");
  await assert.rejects(load(), /could not be reached/);
});

test("an abort ends the request before and during the body", async () => {
  for (const sendsHeaders of [false, true]) {
    const controller = new AbortController();
    handle = (_request, response) => {
      if (sendsHeaders) response.writeHead(200, { "content-type": "text/html" }).write("x");
      setImmediate(() => controller.abort());
    };
    await assert.rejects(fetchPage(origin, controller.signal, LOCAL), /took too long/);
  }
});
