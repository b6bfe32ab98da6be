import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import Fastify, { type FastifyInstance } from "fastify";
import { createWorld } from "../../world/index.ts";
import type { Feed } from "../../world/types.ts";
import {
  polymarketConditionId,
  polymarketEventId,
  polymarketExchange,
  polymarketMarketId,
  polymarketTokenIds,
} from "./index.ts";

const GENESIS = Date.UTC(2026, 10, 20);
const NOW = GENESIS + 5 * 3_600_000;
const world = createWorld({ seed: 5, genesis: GENESIS, speed: 1, marketCount: 300 });
const quietFeed: Feed = { subscribe: () => () => {}, close() {} };

type Reply = { readonly status: number; readonly headers: Readonly<Record<string, unknown>>; readonly body: never };

async function serve(name: string, options: { enforceLimits?: boolean; now?: () => number } = {}) {
  const app = Fastify();
  const { enforceLimits = false, now = () => NOW } = options;
  const service = polymarketExchange({ world, feed: quietFeed, now, enforceLimits }).find((each) => each.name === name);
  assert.ok(service !== undefined);
  service.install(app);
  await app.ready();
  return app;
}

async function get(app: FastifyInstance, url: string, headers: Record<string, string> = {}): Promise<Reply> {
  const answer = await app.inject({ method: "GET", url, headers });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() as never };
}

type Row = { id: string; closed: boolean; volume24hr: number; conditionId: string; markets: Row[] };
type Page = { markets: Row[]; events: Row[]; next_cursor?: string };

describe("sandbox polymarket: gamma", () => {
  let gamma: FastifyInstance;
  const markets = world.markets("polymarket", NOW);
  before(async () => {
    gamma = await serve("gamma");
  });
  after(() => gamma.close());

  const walk = async (path: string, key: "markets" | "events"): Promise<Row[]> => {
    const rows: Row[] = [];
    let after = "";
    for (let turn = 0; turn < 100; turn++) {
      const page: Page = (await get(gamma, `${path}${after}`)).body;
      rows.push(...page[key]);
      if (!("next_cursor" in page)) return rows;
      after = `&after_cursor=${page.next_cursor}`;
    }
    throw new Error("the listing does not end");
  };

  for (const order of ["", "&order=volume24hr&ascending=false", "&order=endDate&ascending=true", "&ascending=false"]) {
    test(`keyset pages tell every market once and end without next_cursor (${order || "default order"})`, async () => {
      const rows = await walk(`/markets/keyset?limit=7${order}`, "markets");
      assert.deepEqual(rows.map((row) => row.id).sort(), markets.map(polymarketMarketId).sort());
      if (order.includes("volume24hr")) {
        assert.ok(rows.every((row, index) => index === 0 || row.volume24hr <= (rows[index - 1]?.volume24hr ?? 0)));
      }
    });
  }

  test("events page the same way, and closed=false leaves out exactly the settled ones", async () => {
    const open = await walk("/events/keyset?limit=9&closed=false", "events");
    const truth = world
      .events("polymarket", NOW)
      .filter((event) => event.markets.some((market) => NOW < market.finalizeAt));
    assert.deepEqual(open.map((row) => row.id).sort(), truth.map(polymarketEventId).sort());
  });

  test("a parameter called cursor is ignored in silence", async () => {
    const first: Page = (await get(gamma, "/markets/keyset?limit=3")).body;
    const again: Page = (await get(gamma, `/markets/keyset?limit=3&cursor=${first.next_cursor}`)).body;
    assert.deepEqual(
      again.markets.map((row) => row.id),
      first.markets.map((row) => row.id),
    );
  });

  test("pages are clamped in silence: 100 markets", async () => {
    const page: Page = (await get(gamma, "/markets/keyset?limit=1000")).body;
    assert.equal(page.markets.length, 100);
  });

  for (const url of [
    "/markets/keyset?offset=5",
    "/events/keyset?offset=0",
    "/markets/keyset?order=volume_24hr",
    "/markets?order=volume24hr,nonsense",
    "/comments",
    "/comments?parent_entity_type=market&parent_entity_id=1",
    "/public-profile?address=me",
    "/markets/keyset?closed=maybe",
    "/markets/keyset?after_cursor=%21",
    "/markets?offset=2001",
    "/markets/abc",
  ]) {
    test(`422: ${url}`, async () => {
      const { status, body } = await get(gamma, url);
      assert.equal(status, 422);
      assert.equal(Object(body).type, "validation error");
    });
  }

  test("booleans are read as the venue's language reads them, also as Python writes them", async () => {
    const plain: Row[] = (await get(gamma, "/markets?limit=100&closed=false&active=true")).body;
    for (const query of ["closed=False&active=True", "closed=0&active=1", "closed=f&active=t"]) {
      assert.deepEqual((await get(gamma, `/markets?limit=100&${query}`)).body, plain, query);
    }
    assert.ok(plain.length > 0 && plain.every((row) => !row.closed));
  });

  test("several order fields are taken, and the first decides", async () => {
    const one: Row[] = (await get(gamma, "/markets?limit=20&order=volumeNum&ascending=false")).body;
    const two: Row[] = (await get(gamma, "/markets?limit=20&order=volumeNum,liquidityNum&ascending=false")).body;
    assert.deepEqual(
      two.map((row) => row.id),
      one.map((row) => row.id),
    );
  });

  test("events come by page with their total, the same as in the bare list", async () => {
    const query = "limit=7&offset=7&closed=false&order=volume24hr&ascending=false";
    const page = Object((await get(gamma, `/events/pagination?${query}`)).body);
    const list: Row[] = (await get(gamma, `/events?${query}`)).body;
    assert.deepEqual(
      page.data.map((row: Row) => row.id),
      list.map((row) => row.id),
    );
    const total = page.pagination.totalResults;
    assert.ok(total > 14 && page.pagination.hasMore === true);
    const end = Object((await get(gamma, `/events/pagination?limit=100&offset=${total - 1}&closed=false`)).body);
    assert.deepEqual([end.data.length, end.pagination.hasMore], [1, false]);
  });

  test("what the world has nothing of is an empty list, not a missing page", async () => {
    const event = Object((await get(gamma, "/events?limit=1")).body)[0];
    for (const url of [
      `/comments?parent_entity_type=Event&parent_entity_id=${event.id}`,
      "/teams?league=nba",
      "/sports",
      "/tags/slug/crypto/related-tags",
      "/tags/slug/crypto/related-tags/tags",
      "/market-clarifications?limit=20",
    ]) {
      assert.deepEqual(await get(gamma, url).then(({ status, body }) => [status, body]), [200, []], url);
    }
    assert.equal((await get(gamma, "/tags/slug/nonsense/related-tags")).status, 404);
  });

  test("a page of any site may read the answers, and is told so before it asks", async () => {
    const asked = await gamma.inject({
      method: "OPTIONS",
      url: "/markets",
      headers: { origin: "https://example.com" },
    });
    assert.equal(asked.statusCode, 204);
    const { headers } = await get(gamma, "/markets?limit=1", { origin: "https://example.com" });
    assert.equal(headers["access-control-allow-origin"], "*");
  });

  test("a search may be sorted by its own names of the fields, either way", async () => {
    const found = async (query: string): Promise<Row[]> =>
      Object((await get(gamma, `/public-search?q=will&limit_per_type=50&${query}`)).body).events;
    for (const [ascending, sign] of [
      ["true", 1],
      ["false", -1],
    ] as const) {
      const volumes = (await found(`sort=volume_24hr&ascending=${ascending}`)).map((row) => row.volume24hr);
      assert.ok(volumes.length > 3);
      assert.deepEqual(
        volumes,
        volumes.toSorted((a, b) => sign * (a - b)),
      );
    }
  });

  test("every market says who makes it: nobody", async () => {
    const rows: Record<string, unknown>[] = (await get(gamma, "/markets?limit=100")).body;
    assert.ok(rows.length > 0 && rows.every((row) => row.marketMakerAddress === ""));
  });

  test("the older lists are bare arrays by limit and offset", async () => {
    const first: Row[] = (await get(gamma, "/markets?limit=5&offset=0&closed=false")).body;
    const second: Row[] = (await get(gamma, "/markets?limit=5&offset=5&closed=false")).body;
    const both: Row[] = (await get(gamma, "/markets?limit=10&closed=false")).body;
    assert.deepEqual(
      [...first, ...second].map((row) => row.id),
      both.map((row) => row.id),
    );
    assert.ok(both.every((row) => !row.closed));
    const events: Row[] = (await get(gamma, "/events?limit=1000")).body;
    assert.equal(events.length, Math.min(100, world.events("polymarket", NOW).length));
  });

  test("a market is found by id, slug, condition, token, and tag; an unknown one is a 404", async () => {
    const [market] = markets;
    assert.ok(market !== undefined);
    const read = Object((await get(gamma, `/markets/${polymarketMarketId(market)}`)).body);
    assert.deepEqual(JSON.parse(read.clobTokenIds), polymarketTokenIds(market));
    assert.equal(Object((await get(gamma, `/markets/slug/${read.slug}`)).body).id, read.id);
    for (const filter of [
      `condition_ids=${read.conditionId}`,
      `clob_token_ids=${polymarketTokenIds(market)[1]}`,
      `slug=${read.slug}`,
      `id=${read.id}`,
    ]) {
      const page: Page = (await get(gamma, `/markets/keyset?${filter}`)).body;
      assert.deepEqual(
        page.markets.map((row) => row.id),
        [read.id],
        filter,
      );
    }
    const [tag] = (await get(gamma, `/markets/${read.id}/tags`)).body as { id: string }[];
    const tagged: Page = (await get(gamma, `/events/keyset?tag_id=${tag?.id}&limit=500`)).body;
    assert.ok(tagged.events.some((event) => event.markets.some((row) => row.id === read.id)));
    for (const url of ["/markets/1", "/markets/slug/nothing-7", "/events/3", "/tags/1", "/series/1"]) {
      assert.equal((await get(gamma, url)).status, 404, url);
    }
  });

  test("search finds an event by words of its title, and says how many there are", async () => {
    const event = world
      .events("polymarket", NOW)
      .find((each) => each.markets.some((market) => NOW < market.finalizeAt));
    const answer = Object(
      (await get(gamma, `/public-search?q=${encodeURIComponent(event?.title ?? "")}&limit_per_type=50`)).body,
    );
    assert.ok(event !== undefined && answer.events.some((row: Row) => row.id === polymarketEventId(event)));
    assert.ok(answer.pagination.totalResults >= answer.events.length);
  });

  test("an augmented group carries an Other row that is not open for trading", async () => {
    const event = world
      .events("polymarket", NOW)
      .find((each) => each.mutuallyExclusive && !each.exhaustive && each.markets.length > 1);
    if (event === undefined) return;
    const read = Object((await get(gamma, `/events/${polymarketEventId(event)}`)).body);
    assert.equal(read.negRiskAugmented, true);
    const other = read.markets.at(-1);
    assert.deepEqual([other.negRiskOther, other.acceptingOrders], [true, false]);
    assert.equal(Object((await get(gamma, `/markets/${other.id}`)).body).id, other.id);
  });

  test("429 with Retry-After above 300 market requests in ten seconds, per client", async () => {
    let at = NOW;
    const limited = await serve("gamma", { enforceLimits: true, now: () => at });
    const ask = (agent: string) => get(limited, "/markets/1", { "user-agent": agent });
    for (let turn = 0; turn < 300; turn++) assert.equal((await ask("a")).status, 404);
    const refused = await ask("a");
    assert.deepEqual([refused.status, refused.headers["retry-after"]], [429, "10"]);
    assert.equal((await ask("b")).status, 404, "another program has a budget of its own");
    at += 10_000;
    assert.equal((await ask("a")).status, 404);
    await limited.close();
  });
});

describe("sandbox polymarket: clob and data", () => {
  let clob: FastifyInstance;
  let data: FastifyInstance;
  const active = world
    .markets("polymarket", NOW)
    .filter((market) => world.lifecycle(market, NOW).phase === "active")
    .sort((a, b) => world.activity(b, NOW).volumeUsd - world.activity(a, NOW).volumeUsd);
  before(async () => {
    [clob, data] = await Promise.all([serve("clob"), serve("data")]);
  });
  after(() => Promise.all([clob.close(), data.close()]));

  test("ids lead back to their market and no id is used twice", async () => {
    const markets = world.markets("polymarket", NOW);
    const ids = markets.flatMap((market) => [
      polymarketMarketId(market),
      polymarketConditionId(market),
      ...polymarketTokenIds(market),
    ]);
    assert.equal(new Set(ids).size, ids.length);
    for (const market of markets.slice(0, 50)) {
      for (const token of polymarketTokenIds(market)) {
        const { body } = await get(clob, `/markets-by-token/${token}`);
        assert.equal(Object(body).condition_id, polymarketConditionId(market));
      }
    }
    assert.ok(
      markets.some((market) => polymarketConditionId(market).length === 64),
      "some condition ids have 62 digits",
    );
  });

  test("404 for the book of a settled market, 400 without a token, 401 where a signature is needed", async () => {
    const settled = world
      .markets("polymarket", NOW)
      .find((market) => world.lifecycle(market, NOW).phase === "finalized");
    assert.ok(settled !== undefined);
    assert.equal((await get(clob, `/book?token_id=${polymarketTokenIds(settled)[0]}`)).status, 404);
    assert.equal((await get(clob, "/book")).status, 400);
    for (const url of ["/data/trades", "/auth/api-keys", "/orders", "/rewards/user/total"]) {
      assert.deepEqual(await get(clob, url).then(({ status }) => status), 401, url);
    }
  });

  test("token ids may be told in the query or the path, as older clients do, with the same answers as in a body", async () => {
    const [first, second] = active;
    assert.ok(first !== undefined && second !== undefined);
    const tokens = [polymarketTokenIds(first)[0], polymarketTokenIds(second)[1]];
    const payload = tokens.map((token) => ({ token_id: token, side: "BUY" }));
    for (const path of ["/books", "/midpoints", "/spreads", "/last-trades-prices"]) {
      const posted = await clob.inject({ method: "POST", url: path, payload });
      const got = await get(clob, `${path}?token_ids=${tokens.join(",")}`);
      assert.deepEqual([got.status, got.body], [200, posted.json()], path);
      assert.equal((await get(clob, path)).status, 400, path);
    }
    const posted = await clob.inject({ method: "POST", url: "/prices", payload });
    assert.deepEqual((await get(clob, `/prices?token_ids=${tokens.join(",")}&sides=BUY,BUY`)).body, posted.json());
    for (const path of ["/tick-size", "/neg-risk", "/fee-rate"]) {
      const plain = await get(clob, `${path}?token_id=${tokens[0]}`);
      assert.deepEqual([plain.status, plain.body], [200, (await get(clob, `${path}/${tokens[0]}`)).body], path);
    }
    assert.deepEqual((await get(clob, "/version")).body, { version: 2 });
  });

  test("a wallet's activity is its rows of the tape; it has no positions, and an address is needed to ask", async () => {
    const [latest] = Object((await get(data, "/trades?limit=1")).body) as { proxyWallet: string }[];
    const user = latest?.proxyWallet ?? "";
    type Act = { type: string; size: number; price: number; usdcSize: number; transactionHash: string };
    const trades: Act[] = (await get(data, `/trades?user=${user}&takerOnly=false`)).body;
    const acts: Act[] = (await get(data, `/activity?user=${user}`)).body;
    assert.ok(acts.length > 0);
    assert.deepEqual(
      acts.map((row) => row.transactionHash),
      trades.map((row) => row.transactionHash),
    );
    for (const { type, size, price, usdcSize } of acts) {
      assert.equal(type, "TRADE");
      assert.ok(Math.abs(usdcSize - size * price) < 1e-6);
    }
    assert.ok(Object((await get(data, `/traded?user=${user}`)).body).traded >= 1);
    assert.deepEqual((await get(data, `/activity?user=${user}&type=REDEEM`)).body, []);
    assert.deepEqual((await get(data, `/positions?user=${user}`)).body, []);
    assert.deepEqual((await get(data, `/closed-positions?user=${user}`)).body, []);
    assert.deepEqual((await get(data, `/value?user=${user}`)).body, [{ user, value: 0 }]);
    for (const path of ["/positions", "/activity", "/value", "/traded", "/positions?user=me"]) {
      assert.equal((await get(data, path)).status, 400, path);
    }
  });

  test("the volume of an event is that of its markets, each by itself", async () => {
    const event = active[0]?.event;
    assert.ok(event !== undefined);
    const [row] = Object((await get(data, `/live-volume?id=${polymarketEventId(event)}`)).body);
    assert.deepEqual(
      row.markets,
      event.markets.map((market) => ({
        market: polymarketConditionId(market),
        value: world.activity(market, NOW).volumeUsd,
      })),
    );
    const sum = event.markets.reduce((total, market) => total + world.activity(market, NOW).volumeUsd, 0);
    assert.ok(Math.abs(row.total - sum) < 1e-6);
  });

  test("price history takes an interval, times or both; not neither, nor points finer than the interval allows", async () => {
    const [market] = active;
    const token = market === undefined ? "" : polymarketTokenIds(market)[0];
    const nowSeconds = Math.floor(NOW / 1_000);
    const hour = `&startTs=${nowSeconds - 3_600}&endTs=${nowSeconds}&fidelity=10`;
    const byTimes = await get(clob, `/prices-history?market=${token}${hour}`);
    const byBoth = await get(clob, `/prices-history?market=${token}${hour}&interval=1d`);
    assert.deepEqual(byBoth.body, byTimes.body);
    assert.equal(Object(byBoth.body).history.length, 6);
    const whole: { t: number }[] = Object(
      (await get(clob, `/prices-history?market=${token}&interval=max`)).body,
    ).history;
    assert.ok(whole.length > 60 && whole.length <= 4_300, `${whole.length} points`);
    assert.ok(whole.every((point, position) => position === 0 || point.t > (whole[position - 1]?.t ?? 0)));
    for (const query of ["", "&endTs=1", "&interval=2y", "&interval=1w&fidelity=1", "&interval=1m&fidelity=9"]) {
      assert.equal((await get(clob, `/prices-history?market=${token}${query}`)).status, 400, query);
    }
    assert.equal((await get(clob, "/prices-history?interval=1d")).status, 400);
  });

  test("the newer tape pages by cursor to the same rows as in one go, newest first; offset and foreign cursors are a 400", async () => {
    const [market] = active;
    assert.ok(market !== undefined);
    const condition = polymarketConditionId(market);
    type Tape = { data: { timestamp: number }[]; pagination: { has_more: boolean; next_cursor: string | null } };
    const whole: Tape = (await get(data, `/v2/trades?condition=${condition}&limit=100`)).body;
    const pieces: { timestamp: number }[] = [];
    let cursor: string | null = "";
    while (cursor !== null && pieces.length < whole.data.length) {
      const page: Tape = (
        await get(data, `/v2/trades?condition=${condition}&limit=7${cursor === "" ? "" : `&cursor=${cursor}`}`)
      ).body;
      pieces.push(...page.data);
      cursor = page.pagination.next_cursor;
    }
    assert.ok(whole.data.length > 20);
    assert.deepEqual(pieces.slice(0, whole.data.length), whole.data);
    assert.ok(whole.data.every((row, index) => row.timestamp <= (whole.data[index - 1]?.timestamp ?? row.timestamp)));
    for (const query of ["offset=5", "limit=1001", "cursor=bm9wZQ"]) {
      assert.equal((await get(data, `/v2/trades?condition=${condition}&${query}`)).status, 400, query);
    }
    assert.equal((await get(data, `/trades?market=${condition}&offset=10001`)).status, 400);
  });

  test("with makers every match has two legs whose prices agree", async () => {
    const [market] = active;
    assert.ok(market !== undefined);
    const url = `/trades?market=${polymarketConditionId(market)}&limit=50&takerOnly=false`;
    const rows: { transactionHash: string; price: number; outcomeIndex: number; side: string }[] = (
      await get(data, url)
    ).body;
    const first = rows.filter((row) => row.transactionHash === rows[0]?.transactionHash);
    assert.equal(first.length % 2, 0);
    const yes = first.map((row) => Math.round((row.outcomeIndex === 0 ? row.price : 1 - row.price) * 1e6));
    assert.equal(new Set(yes).size, 1);
  });

  test("resolutions need exactly one kind of id; unknown ids are an empty list", async () => {
    assert.equal((await get(data, "/v2/resolutions")).status, 400);
    assert.equal((await get(data, "/v2/resolutions?condition=0x1&event_id=2")).status, 400);
    assert.deepEqual((await get(data, `/v2/resolutions?condition=0x${"1".repeat(64)}`)).body, { data: [] });
  });

  test("open interest, holders and status answer", async () => {
    const [market] = active;
    assert.ok(market !== undefined);
    const condition = polymarketConditionId(market);
    const truth = world.activity(market, NOW).openInterestContracts;
    assert.deepEqual((await get(data, `/oi?market=${condition}`)).body, [{ market: condition, value: truth }]);
    const holders: { holders: { amount: number }[] }[] = (await get(data, `/holders?market=${condition}`)).body;
    assert.ok(holders.length === 2 && holders[0]?.holders.every((holder) => holder.amount > 0));
    assert.equal((await get(data, "/v2/status")).status, 200);
    assert.equal((await get(data, "/holders")).status, 400);
  });
});
