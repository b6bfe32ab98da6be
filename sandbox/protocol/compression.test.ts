import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { request } from "undici";
import { serveExchanges } from "../serve.ts";

const ROWS = Array.from({ length: 2_000 }, (_, row) => ({ row, title: "Will it rain in Zürich?" }));
let served: Awaited<ReturnType<typeof serveExchanges>>;
before(async () => {
  const service = { venue: "a", name: "rest" } as const;
  const install: Parameters<typeof serveExchanges>[0][number]["install"] = (app) => {
    app.get("/large", () => ROWS);
    app.get("/small", () => ROWS.slice(0, 1_000));
  };
  served = await serveExchanges([{ ...service, install }], { host: "127.0.0.1", firstPort: 0 });
});
after(() => served.close());

async function get(path: string, acceptEncoding?: string, method: "GET" | "HEAD" = "GET") {
  const headers = acceptEncoding === undefined ? {} : { "accept-encoding": acceptEncoding };
  const response = await request(`${served.urls.a?.rest}${path}`, { headers, method });
  return { headers: response.headers, body: Buffer.from(await response.body.arrayBuffer()) };
}

test("a response of at least 64 KiB is compressed with gzip if the client accepts it", async () => {
  const { headers, body } = await get("/large", "gzip, br");
  assert.equal(headers["content-encoding"], "gzip");
  assert.equal(headers["content-length"], String(body.length));
  assert.deepEqual(JSON.parse(gunzipSync(body).toString()), ROWS);
  assert.ok(body.length * 10 < JSON.stringify(ROWS).length, `${body.length} bytes`);
});

test("does not compress a small response, one without gzip in Accept-Encoding, or one to HEAD", async () => {
  for (const [path, acceptEncoding] of [
    ["/large", undefined],
    ["/large", "br"],
    ["/small", "gzip"],
  ] as const) {
    const { headers, body } = await get(path, acceptEncoding);
    assert.equal(headers["content-encoding"], undefined, path);
    assert.deepEqual(JSON.parse(body.toString()), path === "/large" ? ROWS : ROWS.slice(0, 1_000));
  }
  const { headers, body } = await get("/large", "gzip", "HEAD");
  assert.deepEqual([headers["content-encoding"], body.length], [undefined, 0]);
  assert.equal(headers["content-length"], String(Buffer.byteLength(JSON.stringify(ROWS))));
});
