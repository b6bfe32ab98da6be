import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { FastifyInstance } from "fastify";
import { get, NOW, startHost, world } from "../../../test/support/sandbox/polymarket-server.ts";
import { polymarketEventId, polymarketMarketId, polymarketTokenIds } from "./index.ts";

interface Row {
  readonly id: string;
  readonly closed: boolean;
  readonly markets: readonly Row[];
}

interface Page {
  readonly markets: readonly Row[];
  readonly events: readonly Row[];
  readonly next_cursor?: string;
}

const markets = world.markets("polymarket", NOW);
const idsOf = (rows: readonly Row[]) => rows.map((row) => row.id);

let gamma: FastifyInstance;
before(async () => {
  gamma = await startHost("gamma");
});
after(() => gamma.close());

async function readAllPages(path: string, key: "markets" | "events"): Promise<Row[]> {
  const rows: Row[] = [];
  let cursorParam = "";
  for (let pageCount = 0; pageCount < 100; pageCount++) {
    const page: Page = (await get(gamma, `${path}${cursorParam}`)).body;
    rows.push(...page[key]);
    if (!("next_cursor" in page)) return rows;
    cursorParam = `&after_cursor=${page.next_cursor}`;
  }
  throw new Error("the list does not end after 100 pages");
}

test("keyset pages contain every market once, and the last page has no `next_cursor`", async () => {
  const rows = await readAllPages("/markets/keyset?limit=7", "markets");
  assert.deepEqual(idsOf(rows).sort(), markets.map(polymarketMarketId).sort());
});

test("ignores the parameter `cursor` and returns the first page", async () => {
  const first: Page = (await get(gamma, "/markets/keyset?limit=3")).body;
  const second: Page = (await get(gamma, `/markets/keyset?limit=3&cursor=${first.next_cursor}`)).body;
  assert.deepEqual(idsOf(second.markets), idsOf(first.markets));
});

test("clamps the page size to 100 rows without an error", async () => {
  const page: Page = (await get(gamma, "/markets/keyset?limit=1000")).body;
  assert.equal(page.markets.length, 100);
});

test("the market of a two-sided game has both sides in `outcomes` and its type in `groupItemTitle`", async () => {
  const game = markets.find((market) => market.event.sides !== undefined);
  assert.ok(game !== undefined);
  const row = Object((await get(gamma, `/markets/${polymarketMarketId(game)}`)).body);
  assert.deepEqual(JSON.parse(row.outcomes), game.event.sides);
  assert.deepEqual([row.groupItemTitle, row.sportsMarketType], ["Match Winner", "moneyline"]);
  assert.ok(JSON.parse(row.outcomes).every((side: string) => row.question.includes(side)));
});

for (const url of [
  "/markets/keyset?offset=5",
  "/events/keyset?offset=0",
  "/markets/keyset?closed=maybe",
  "/markets/keyset?after_cursor=%21",
  "/markets/abc",
]) {
  test(`422: rejects ${url}`, async () => {
    const { status, body } = await get(gamma, url);
    assert.equal(status, 422);
    assert.equal(Object(body).type, "validation error");
  });
}

test("accepts `true`, `True`, `t` and `1` as true, and `false`, `False`, `f` and `0` as false", async () => {
  const read = async (query: string): Promise<Page> => (await get(gamma, `/markets/keyset?limit=100&${query}`)).body;
  const expected = await read("closed=false&include_tag=true");
  for (const query of ["closed=False&include_tag=True", "closed=0&include_tag=1", "closed=f&include_tag=t"]) {
    assert.deepEqual(await read(query), expected, query);
  }
  assert.ok(expected.markets.length > 0 && expected.markets.every((row) => !row.closed));
});

test("finds a market by id", async () => {
  const [market] = markets;
  assert.ok(market !== undefined);
  const id = polymarketMarketId(market);
  const row = Object((await get(gamma, `/markets/${id}?include_tag=true`)).body);
  assert.deepEqual(JSON.parse(row.clobTokenIds), polymarketTokenIds(market));
  assert.ok(row.tags.length > 0);
  const page: Page = (await get(gamma, `/markets/keyset?id=${id}&id=1`)).body;
  assert.deepEqual(idsOf(page.markets), [id]);
});

for (const url of ["/markets/1", "/events/3"]) {
  test(`404: finds nothing at ${url}`, async () => {
    assert.equal((await get(gamma, url)).status, 404);
  });
}

test("an augmented event has an Other market that does not accept orders", async () => {
  const event = world
    .events("polymarket", NOW)
    .find((candidate) => candidate.mutuallyExclusive && !candidate.exhaustive && candidate.markets.length > 1);
  assert.ok(event !== undefined);
  const row = Object((await get(gamma, `/events/${polymarketEventId(event)}`)).body);
  assert.equal(row.negRiskAugmented, true);
  const other = row.markets.at(-1);
  assert.deepEqual([other.negRiskOther, other.acceptingOrders], [true, false]);
});

test("429: rejects a client's 301st market request within ten seconds and returns Retry-After", async (t) => {
  let at = NOW;
  const limited = await startHost("gamma", { enforceLimits: true, now: () => at });
  t.after(() => limited.close());
  const request = (userAgent: string) => get(limited, "/markets/1", { "user-agent": userAgent });
  for (let count = 0; count < 300; count++) assert.equal((await request("a")).status, 404);
  const rejected = await request("a");
  assert.deepEqual([rejected.status, rejected.headers["retry-after"]], [429, "10"]);
  assert.equal((await request("b")).status, 404, "another client has a separate limit");
  at += 10_000;
  assert.equal((await request("a")).status, 404);
});
