import assert from "node:assert/strict";
import dns from "node:dns";
import type { ServerResponse } from "node:http";
import net from "node:net";
import { after, mock, test } from "node:test";
import { gzipSync } from "node:zlib";
import { type ReceivedRequest, startLocalServer } from "../../../test/support/research/local-server.ts";
import { addressRecords, startDnsServer } from "../../../test/support/webhooks/dns-server.ts";
import { createDnsResolver, type ResolveHost } from "../network/guarded-agent.ts";
import { fetchPage, PUBLIC_ADDRESSES } from "./fetch-page.ts";

let handle: (request: ReceivedRequest, response: ServerResponse) => void = () => {};
const server = await startLocalServer((request, response) => handle(request, response));
const connect = mock.method(net.Socket.prototype, "connect");
after(() => server.close());

const { port } = new URL(server.origin);
/** Permits the server of this test and nothing else. */
const LOCAL = { addresses: ["127.0.0.1"], ports: [port] };
const { signal } = new AbortController();
const anyPort = { ...PUBLIC_ADDRESSES, ports: ["", "80", "443", port] };

/** Resolves every name to the given addresses, one list per look-up. */
function resolveTo(...answers: readonly (readonly string[])[]): ResolveHost {
  let asked = 0;
  return async () => answers[Math.min(asked++, answers.length - 1)] ?? [];
}

/** Ways to write an IPv4 address that URL parsers accept. */
function spellings(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const low = (c << 8) | d;
  const hex = (value: number) => value.toString(16);
  const groups = `${hex((a << 8) | b)}:${hex(low)}`;
  return [
    ...[
      address,
      String(whole),
      `0x${hex(whole)}`,
      `0${whole.toString(8)}`,
      `${a}.${b}.${low}`,
      `${a}.${b * 65_536 + low}`,
    ],
    ...[
      `0x${hex(a)}.0x${hex(b)}.0x${hex(c)}.0x${hex(d)}`,
      `0${a.toString(8)}.0${b.toString(8)}.0${c.toString(8)}.0${d.toString(8)}`,
    ],
    ...[`${address}.`, `0x${hex(a)}.${b}.0${c.toString(8)}.${d}`, encodeURIComponent(address).replaceAll(".", "%2e")],
    ...[`[::ffff:${address}]`, `[::ffff:${groups}]`, `[64:ff9b::${groups}]`, `[2002:${groups}::1]`, `[::${groups}]`],
    address.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
  ];
}

test("refuses every spelling of an address that is not public before a socket connects", async () => {
  const forbidden = [
    ...[
      "127.0.0.1",
      "127.255.0.9",
      "0.0.0.0",
      "10.0.0.1",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "169.254.169.254",
    ],
    ...["100.64.0.1", "192.0.0.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1"],
  ].flatMap(spellings);
  const forbidden6 = [
    "::1",
    "::",
    "fe80::1",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "2001:db8::1",
    "64:ff9b::7f00:1",
    "4000::1",
    "::ffff:0:7f00:1",
  ];
  const connections = connect.mock.callCount();
  for (const host of [...forbidden, ...forbidden6.map((address) => `[${address}]`)])
    for (const [scheme, suffix] of [
      ["http", ""],
      ["http", `:${port}`],
      ["https", ""],
    ] as const)
      await assert.rejects(fetchPage(`${scheme}://${host}${suffix}/`, signal, { rule: anyPort }), Error, host);
  assert.equal(connect.mock.callCount(), connections);
  assert.deepEqual(server.requests, []);
});

test("refuses a name if any of its addresses is not public, at every look-up", async () => {
  const answers: readonly (readonly string[])[] = [
    ["127.0.0.1"],
    ["93.184.215.14", "127.0.0.1"],
    ["::ffff:127.0.0.1"],
    ["fe80::1"],
    ["::7f00:1"],
    ["10.0.0.1"],
  ];
  for (const addresses of answers) {
    const options = { rule: anyPort, resolveHost: resolveTo(addresses) };
    await assert.rejects(fetchPage(`http://rebound.example:${port}/`, signal, options), /could not be reached/);
  }
  for (const name of ["localhost", "LOCALHOST."])
    await assert.rejects(fetchPage(`http://${name}:${port}/`, signal, { rule: anyPort }), Error, name);
  assert.deepEqual(server.requests, []);
});

test("host names of pages are resolved by the DNS servers, not on the threads that read files", async () => {
  const lookup = mock.method(dns, "lookup");
  const dnsServer = await startDnsServer((question) => addressRecords(question, ["127.0.0.1"]));
  after(() => dnsServer.close());
  const resolveHost = createDnsResolver({ servers: [dnsServer.address] });
  handle = (_request, response) => void response.writeHead(200, { "content-type": "text/plain" }).end("a page");
  const page = await fetchPage(`http://pages.example:${port}/`, signal, { rule: LOCAL, resolveHost });
  assert.equal(page.body, "a page");
  // The default resolver sends no query for this name.
  await assert.rejects(fetchPage(`http://localhost:${port}/`, signal, { rule: LOCAL }));
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
      await assert.rejects(fetchPage(`${server.origin}/`, signal, { rule: LOCAL }), Error, location);
      assert.equal(connect.mock.callCount(), before + 1);
    }
  handle = (_request, response) => void response.writeHead(302, { location: "/again" }).end();
  const before = server.requests.length;
  const resolveHost = resolveTo(["127.0.0.1"], ["10.0.0.1"]);
  await assert.rejects(
    fetchPage(`http://flips.example:${port}/`, signal, { rule: LOCAL, resolveHost }),
    /could not be reached/,
  );
  assert.equal(server.requests.length, before + 1);
  await assert.rejects(fetchPage(`${server.origin}/`, signal, { rule: LOCAL }), /too many redirects/);
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
    await assert.rejects(fetchPage(address, signal, { rule: PUBLIC_ADDRESSES }), /address|port/, address);
});

test("follows a redirect to an allowed address and decodes the page", async () => {
  handle = ({ url }, response) => {
    if (url === "/") response.writeHead(302, { location: "/page" }).end();
    else
      response
        .writeHead(200, { "content-type": "text/html; charset=latin1", "content-encoding": "gzip" })
        .end(gzipSync(Buffer.from("caf\xe9", "latin1")));
  };
  assert.deepEqual(await fetchPage(server.origin, signal, { rule: LOCAL }), {
    url: `${server.origin}/page`,
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
  const load = () => fetchPage(server.origin, signal, { rule: LOCAL });
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
    await assert.rejects(fetchPage(server.origin, controller.signal, { rule: LOCAL }), /took too long/);
  }
});
