/**
 * Child process: Polymarket's CLOB and Gamma APIs of a sandbox, with heavy bodies. argv: the two URLs of the sandbox. The first
 * message to the parent has the URLs of this process. A message to this process is the name of a body or "none", and selects
 * the responses: to order books for `nested` and `levels`, to look-ups of ids that begin with 9 for the lists. This process
 * answers it with the number of heavy responses since the previous message.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const UPSTREAM_MS_MAX = 10_000;
const NESTED_BYTES = 4_000_000;
const LEVELS = 1_000_000;
const LIST_BYTES = 15_000_000;
const LONG_LIST_BYTES = 52_000_000;
/** A row with fields of common lengths. */
const ROW = JSON.stringify({
  id: "512345",
  question: "Will this be the title of a market?",
  outcomes: '["Yes", "No"]',
  volume: 12_345.67,
});

const listOf = (bytes: number) =>
  Buffer.from(
    `[${Array(Math.floor(bytes / (ROW.length + 1)))
      .fill(ROW)
      .join()}]`,
  );
const LEVELS_REST = Buffer.from(
  `"market":"0x0","timestamp":"1","asks":[],"bids":[${Array(LEVELS).fill('{"price":"0.01","size":"1"}').join()}]}`,
);
const BODIES = new Map<string, (token: string) => Buffer>([
  ["nested", constant(Buffer.alloc(NESTED_BYTES, "["))],
  ["levels", (token) => Buffer.concat([Buffer.from(`{"asset_id":"${token}",`), LEVELS_REST])],
  ["list", constant(listOf(LIST_BYTES))],
  ["long list", constant(listOf(LONG_LIST_BYTES))],
]);
let bodyName = "none";
let responses = 0;

function constant(body: Buffer): () => Buffer {
  return () => body;
}

/** Forwards requests to `target`, except those that get a heavy body. */
async function serve(target: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", target);
    const isBook = url.pathname === "/book";
    const body = BODIES.get(bodyName);
    const isHeavy = bodyName.endsWith("list") ? /^\/markets\/9/.test(url.pathname) : isBook;
    if (body !== undefined && isHeavy) {
      responses += 1;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(body(url.searchParams.get("token_id") ?? ""));
      return;
    }
    try {
      const upstream = await fetch(url, { signal: AbortSignal.timeout(UPSTREAM_MS_MAX) });
      response.writeHead(upstream.status, { "content-type": upstream.headers.get("content-type") ?? "text/plain" });
      response.end(Buffer.from(await upstream.arrayBuffer()));
    } catch {
      response.destroy();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const [clobUrl = "", gammaUrl = ""] = process.argv.slice(2);
process.on("message", (name: string) => {
  bodyName = name;
  process.send?.({ responses });
  responses = 0;
});
process.on("disconnect", () => process.exit());
process.send?.({ clobUrl: await serve(clobUrl), gammaUrl: await serve(gammaUrl) });
