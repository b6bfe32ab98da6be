import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import type { ExchangeService } from "./protocol/exchange.ts";
import { serveExchanges } from "./serve.ts";

const LOOPBACK_OPTIONS = { host: "127.0.0.1", firstPort: 0 };

function createService(venue: string, name: string, listener: string, basePath = ""): ExchangeService {
  return {
    venue,
    name,
    listener,
    basePath,
    install: (app) => {
      app.get(`${basePath}/${name}`, () => ({ venue, name }));
    },
  };
}

const portOf = (url: string | undefined) => new URL(url ?? "").port;

test("services with the same listener share a port, and each is reachable at its URL", async () => {
  const services = [
    createService("a", "rest", "a", "/v2"),
    createService("a", "ws", "a", "/v2"),
    createService("b", "gamma", "b1"),
    createService("b", "clob", "b2"),
  ];
  const { urls, close } = await serveExchanges(services, LOOPBACK_OPTIONS);
  assert.match(urls.a?.rest ?? "", /^http:\/\/127\.0\.0\.1:\d+\/v2$/);
  assert.match(urls.a?.ws ?? "", /^ws:\/\/127\.0\.0\.1:\d+\/v2$/);
  assert.equal(portOf(urls.a?.rest), portOf(urls.a?.ws));
  assert.equal(new Set([urls.a?.rest, urls.b?.gamma, urls.b?.clob].map(portOf)).size, 3);
  for (const [venue, name] of [
    ["a", "rest"],
    ["b", "gamma"],
    ["b", "clob"],
  ] as const) {
    const reply = await fetch(`${urls[venue]?.[name]}/${name}`);
    assert.deepEqual(await reply.json(), { venue, name });
  }
  await close();
  await assert.rejects(fetch(`${urls.a?.rest}/rest`));
});

test("listeners use consecutive ports from the first port", async () => {
  // Finds a free port. The next port is very likely also free.
  const probe = createServer();
  const first = await new Promise<number>((resolve) => {
    probe.listen(0, "127.0.0.1", () => resolve((probe.address() as { port: number }).port));
  });
  await new Promise((resolve) => probe.close(resolve));
  const { urls, close } = await serveExchanges([createService("a", "rest", "a"), createService("b", "rest", "b")], {
    host: "127.0.0.1",
    firstPort: first,
  });
  assert.deepEqual([portOf(urls.a?.rest), portOf(urls.b?.rest)], [String(first), String(first + 1)]);
  await close();
});
