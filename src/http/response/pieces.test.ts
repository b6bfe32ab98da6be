import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { setImmediate as nextIteration } from "node:timers/promises";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { PUBLIC_ROUTE, testServer } from "../../../test/support/test-app.ts";
import { defineRoute } from "../route.ts";
import { sendJsonPieces } from "./pieces.ts";

const PIECE_LENGTH = 32 * 1024;
/** More than the kernel stores for a connection whose client reads nothing. */
const LARGE_PIECES = 800;
/** Iterations of the event loop after which a client that reads nothing has received all that the kernel stores. */
const SETTLED_ITERATIONS = 500;
const LARGE_BODY = Buffer.from(JSON.stringify({ text: "x".repeat(12_000_000) }));

/** The text of piece `index`: an element of a JSON array, whose bytes do not compress to nothing. */
const pieceOf = (index: number, count: number): string => {
  const filler = Math.sin(index).toString(36).slice(3).repeat(PIECE_LENGTH).slice(0, PIECE_LENGTH);
  return `${index === 0 ? "[" : ","}"${filler}"${index === count - 1 ? "]" : ""}`;
};

/**
 * Starts a server with routes that send pieces, and counts the pieces that were produced and the bodies that were
 * ended.
 */
async function startServer(t: TestContext) {
  const { app, lines } = await testServer();
  const counts = { produced: 0, ended: 0 };
  async function* produce(count: number, failsAt = Number.POSITIVE_INFINITY): AsyncGenerator<string> {
    try {
      for (let index = 0; index < count; index++) {
        if (index === failsAt) throw new Error("the body cannot be continued");
        counts.produced += 1;
        yield pieceOf(index, count);
        await nextIteration();
      }
    } finally {
      counts.ended += 1;
    }
  }
  const route = (url: string, pieces: () => AsyncIterable<string>) =>
    defineRoute(app, {
      ...PUBLIC_ROUTE,
      url,
      operationId: url.slice(1),
      handler: ({ reply }) => sendJsonPieces(reply, pieces()),
    });
  route("/small", () => produce(3));
  route("/large", () => produce(LARGE_PIECES));
  route("/failing", () => produce(LARGE_PIECES, 40));
  defineRoute(app, {
    ...PUBLIC_ROUTE,
    url: "/buffer",
    operationId: "buffer",
    handler: ({ reply }) => reply.type("application/json").send(LARGE_BODY),
  });
  const sockets: Socket[] = [];
  app.server.on("connection", (socket: Socket) => sockets.push(socket));
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const call = async (path: string, headers: Record<string, string> = {}, method = "GET") => {
    const sent: ClientRequest = request({ port, host: "127.0.0.1", path, method, headers, agent: false });
    t.after(() => sent.destroy());
    sent.on("error", () => {});
    sent.end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.on("error", () => {});
    return response;
  };
  return { app, lines, counts, sockets, call };
}

const expected = (count: number) => Array.from({ length: count }, (_, index) => pieceOf(index, count)).join("");

async function settle(): Promise<void> {
  for (let count = 0; count < SETTLED_ITERATIONS; count++) await nextIteration();
}

test("a large body is produced only as fast as the client reads, and arrives completely", async (t) => {
  const { call, counts, sockets } = await startServer(t);
  const response = await call("/large");
  await settle();
  const { produced } = counts;
  assert.ok(produced < LARGE_PIECES, `${produced} pieces for a client that reads nothing`);
  assert.ok((sockets[0]?.writableLength ?? 0) < 1024 * 1024);
  await settle();
  assert.equal(counts.produced, produced, "nothing is produced while the client does not read");
  assert.deepEqual(
    [response.headers["transfer-encoding"], response.headers["content-length"], response.headers.etag],
    ["chunked", undefined, undefined],
  );
  assert.match(String(response.headers["content-type"]), /^application\/json/);
  assert.equal(await text(response), expected(LARGE_PIECES));
  assert.deepEqual(counts, { produced: LARGE_PIECES, ended: 1 });
});

test("a large body is compressed in pieces if the client accepts it", async (t) => {
  const { call } = await startServer(t);
  for (const [encoding, decompress] of [
    ["gzip", gunzipSync],
    ["br", brotliDecompressSync],
  ] as const) {
    const response = await call("/large", { "accept-encoding": encoding });
    assert.deepEqual(
      [response.headers["content-encoding"], response.headers["content-length"], response.headers.vary],
      [encoding, undefined, "accept-encoding"],
    );
    assert.equal(decompress(await buffer(response)).toString(), expected(LARGE_PIECES));
  }
});

test("a body of at most 256 KiB has a length and an entity tag, and is 304 if it is unchanged", async (t) => {
  const { call } = await startServer(t);
  const response = await call("/small");
  assert.equal(response.headers["content-length"], String(expected(3).length));
  assert.equal(await text(response), expected(3));
  const repeated = await call("/small", { "if-none-match": String(response.headers.etag) });
  assert.deepEqual([repeated.statusCode, await text(repeated)], [304, ""]);
});

test("HEAD gets the headers of a large body, and the rest of it is not produced", async (t) => {
  const { call, counts } = await startServer(t);
  const response = await call("/large", { "accept-encoding": "gzip" }, "HEAD");
  assert.deepEqual([response.statusCode, await text(response)], [200, ""]);
  assert.deepEqual([response.headers["content-encoding"], response.headers["content-length"]], ["gzip", undefined]);
  await settle();
  assert.ok(counts.produced < 12, `${counts.produced} pieces`);
});

test("a body is ended if the client disconnects, compressed or not, and this is not logged as an error", async (t) => {
  const { call, counts, lines } = await startServer(t);
  for (const encoding of ["identity", "gzip"]) {
    const response = await call("/large", { "accept-encoding": encoding });
    await once(response, "readable");
    const { ended } = counts;
    response.destroy();
    while (counts.ended === ended) await nextIteration();
  }
  assert.ok(counts.produced < 2 * LARGE_PIECES);
  assert.deepEqual(
    lines.filter(({ level }) => level === "error"),
    [],
  );
});

test("if a body fails, the connection is closed and an error is logged, so that no client treats the body as complete", async (t) => {
  const { call, lines } = await startServer(t);
  for (const encoding of ["identity", "gzip"]) {
    const response = await call("/failing", { "accept-encoding": encoding });
    await assert.rejects(buffer(response), { code: "ECONNRESET" });
    assert.equal(response.complete, false);
  }
  const errors = lines.filter(({ level }) => level === "error");
  assert.deepEqual(
    errors.map(({ message }) => message),
    ["failed to send the response", "failed to send the response"],
  );
});

test("a buffer above 1 MiB is sent in slices, and its response has Content-Length and ETag", async (t) => {
  const { call, sockets } = await startServer(t);
  const response = await call("/buffer");
  await settle();
  assert.ok((sockets[0]?.writableLength ?? 0) < 512 * 1024);
  assert.equal(response.headers["content-length"], String(LARGE_BODY.length));
  assert.ok((await buffer(response)).equals(LARGE_BODY));
  const repeated = await call("/buffer", { "if-none-match": String(response.headers.etag) });
  assert.deepEqual([repeated.statusCode, await text(repeated)], [304, ""]);
  const head = await call("/buffer", {}, "HEAD");
  assert.deepEqual([head.headers["content-length"], await text(head)], [String(LARGE_BODY.length), ""]);
});
