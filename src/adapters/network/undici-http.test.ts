import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { after, afterEach, test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { VenueError } from "../../domain/errors.ts";
import type { OutgoingRequest } from "../../ports/http-out.ts";
import { systemClock } from "../system/system-clock.ts";
import { createUndiciHttp } from "./undici-http.ts";

const MEBIBYTE = 1024 * 1024;
const TEXT = JSON.stringify(Array.from({ length: 2_000 }, (_, row) => ({ ticker: `T-${row}`, title: "Größe — 中文" })));

const http = createUndiciHttp(systemClock);
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
after(() => http.close());

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sends a request to a server that responds with these headers and body. */
async function receive(
  headers: Record<string, string | string[]>,
  body: Buffer,
  options: Partial<OutgoingRequest> = {},
) {
  const url = await listen((_request, response) => response.writeHead(200, headers).end(body));
  let bytes: readonly number[] = [];
  const countBytes = (...counts: readonly number[]) => {
    bytes = counts;
  };
  const request = { method: "GET", url, deadlineMs: 20_000, maxBodyBytes: MEBIBYTE, countBytes, ...options } as const;
  const result = await http.send(request).catch((error: unknown) => error);
  return { result, bytes };
}

function assertFailure(result: unknown, failure: VenueError["failure"], retryable: boolean, about?: string): void {
  assert.ok(result instanceof VenueError, `${about}: ${JSON.stringify(result)?.slice(0, 100)}`);
  assert.deepEqual([result.failure, result.retryable], [failure, retryable], about);
}

test("`close` aborts a pending request to an unresponsive host", async () => {
  const closing = createUndiciHttp(systemClock);
  const requested = Promise.withResolvers<void>();
  const url = await listen(() => requested.resolve());
  const rejection = assert.rejects(closing.send({ method: "GET", url, deadlineMs: 60_000, maxBodyBytes: 1 }));
  await requested.promise;
  await closing.close();
  await rejection;
});

test("asks for compressed responses, decodes them and counts the bytes before and after", async () => {
  const accepted: unknown[] = [];
  const url = await listen((request, response) => {
    accepted.push(request.headers["accept-encoding"]);
    response.end();
  });
  await http.send({ method: "GET", url, deadlineMs: 20_000, maxBodyBytes: 1 });
  assert.deepEqual(accepted, ["gzip, br"]);

  const length = Buffer.byteLength(TEXT);
  for (const [encoding, body] of [
    ["gzip", gzipSync(TEXT)],
    ["GZIP ", gzipSync(TEXT, { level: 1 })],
    ["br", brotliCompressSync(TEXT)],
    ["identity", Buffer.from(TEXT)],
    ["", Buffer.from(TEXT)],
  ] as const) {
    const { result, bytes } = await receive({ "content-encoding": encoding }, body);
    assert.ok(typeof result === "object" && result !== null && "body" in result, String(result));
    assert.equal(result.body, TEXT, encoding);
    assert.deepEqual(bytes, [body.length, length], encoding);
  }
});

test("accepts an empty body with a content encoding", async () => {
  const { result, bytes } = await receive({ "content-encoding": "gzip" }, Buffer.alloc(0));
  assert.ok(typeof result === "object" && result !== null && "body" in result, String(result));
  assert.deepEqual([result.body, bytes], ["", [0, 0]]);
});

test("bad_body: stops decoding and receiving a body at the size limit", async () => {
  const zeros = Buffer.alloc(64 * MEBIBYTE);
  for (const [encoding, bomb] of [
    ["gzip", gzipSync(zeros)],
    ["br", brotliCompressSync(zeros)],
  ] as const) {
    assert.ok(bomb.length < MEBIBYTE);
    const { result, bytes } = await receive({ "content-encoding": encoding }, bomb);
    assertFailure(result, "bad_body", false, encoding);
    const [received, decoded = 0] = bytes;
    assert.equal(received, bomb.length);
    assert.ok(decoded > MEBIBYTE && decoded < 2 * MEBIBYTE, `${encoding}: decoded ${decoded} bytes`);
  }
  // Empty members: the body decodes to nothing, but receiving it must not be unlimited.
  const emptyMembers = Buffer.concat(Array(200_000).fill(gzipSync("")));
  const { result, bytes } = await receive({ "content-encoding": "gzip" }, emptyMembers);
  assertFailure(result, "bad_body", false, "empty members");
  assert.ok((bytes[0] ?? 0) < 2 * MEBIBYTE && bytes[1] === 0, String(bytes));
});

test("bad_body: rejects unknown and nested encodings, and incomplete or corrupt data", async () => {
  const compressed = gzipSync(TEXT);
  const flipped = Buffer.from(compressed);
  flipped[flipped.length >> 1] = (flipped[flipped.length >> 1] ?? 0) ^ 0xff;
  const wrongChecksum = Buffer.from(compressed);
  wrongChecksum[wrongChecksum.length - 8] = (wrongChecksum[wrongChecksum.length - 8] ?? 0) ^ 1;
  const cases: readonly (readonly [string, string | string[], Buffer])[] = [
    ["unknown", "compress", compressed],
    ["not asked for", "zstd", compressed],
    ["nested", "gzip, gzip", gzipSync(compressed)],
    ["nested in two lines", ["gzip", "br"], compressed],
    ["incomplete gzip", "gzip", compressed.subarray(0, -1)],
    ["half of gzip", "gzip", compressed.subarray(0, compressed.length >> 1)],
    ["only a gzip header", "gzip", compressed.subarray(0, 10)],
    ["incomplete brotli", "br", brotliCompressSync(TEXT).subarray(0, -1)],
    ["a changed byte", "gzip", flipped],
    ["a wrong checksum", "gzip", wrongChecksum],
    ["text", "gzip", Buffer.from(TEXT)],
    ["text as brotli", "br", Buffer.from(TEXT)],
  ];
  for (const [about, encoding, body] of cases)
    assertFailure((await receive({ "content-encoding": encoding }, body)).result, "bad_body", true, about);
});

test("the deadline and the signal of the caller end the decoding", async () => {
  // Decodes to 400 MiB, which takes longer than the deadline.
  const body = Buffer.concat(Array(400).fill(gzipSync(Buffer.alloc(MEBIBYTE))));
  const limits = { deadlineMs: 60, maxBodyBytes: 500 * MEBIBYTE };
  const timedOut = await receive({ "content-encoding": "gzip" }, body, limits);
  assertFailure(timedOut.result, "timeout", true);
  const abort = new AbortController();
  const clock = {
    ...systemClock,
    now() {
      // The response headers have arrived. The body is received within a few milliseconds.
      setTimeout(() => abort.abort(), 30);
      return 0;
    },
  };
  const abortable = createUndiciHttp(clock);
  closers.push(() => abortable.close());
  const url = await listen((_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(body));
  const request = { method: "GET", url, ...limits, deadlineMs: 60_000, signal: abort.signal } as const;
  assertFailure(await abortable.send(request).catch((error: unknown) => error), "network", false);
});

test("network: a connection that closes during a compressed body is not reported as a corrupt body", async () => {
  const compressed = gzipSync(TEXT);
  const url = await listen((_request, response) => {
    response.writeHead(200, { "content-encoding": "gzip", "content-length": compressed.length });
    response.write(compressed.subarray(0, 100), () => response.destroy());
  });
  const request = { method: "GET", url, deadlineMs: 20_000, maxBodyBytes: MEBIBYTE } as const;
  assertFailure(await http.send(request).catch((error: unknown) => error), "network", true);
});
