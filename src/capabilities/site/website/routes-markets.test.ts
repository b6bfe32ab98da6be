import assert from "node:assert/strict";
import { test } from "node:test";
import { hostileTexts } from "../../../../test/support/hostile-texts.ts";
import {
  SAMPLE_AT,
  type SampleParts,
  sampleEvent,
  sampleMarket,
} from "../../../../test/support/markets/market-samples.ts";
import { openWebsite, type SiteContext } from "../../../../test/support/pages/website-harness.ts";
import { AppError, VenueError } from "../../../domain/errors.ts";
import type { Outcome } from "../../../domain/market.ts";
import { DAY_MS } from "../../../lib/durations.ts";

/** Adds a market with this 24-hour volume. */
function addMarket({ board }: SiteContext, id: string, volume24hUsd: number | null, parts: SampleParts = {}): void {
  board.apply(sampleMarket(id, { ...parts, activity: { volume24hUsd, ...parts.activity } }), SAMPLE_AT);
}

const listTitles = (text: string): string[] =>
  [...text.matchAll(/<td role="cell" class="title"><a [^>]*>([^<]*)</g)].map((match) => match[1] ?? "");
const findNextPath = (text: string): string | null =>
  /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? null;
/** Matches a complete tag; its group contains the attributes. */
const TAG_PATTERN = /<[!/]?[a-z][a-z0-9]*((?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*\/?>/gi;
const countElements = (text: string): number => text.match(/<[a-z]/gi)?.length ?? 0;

test("200: the list shows open markets by volume, 25 to a page, and following its links shows each market once", async () => {
  const website = await openWebsite();
  for (let index = 0; index < 60; index++) addMarket(website, `m${index}`, index);
  addMarket(website, "closed", 1_000, { listing: { status: "closed" } });
  const titles: string[] = [];
  let path: string | null = "/markets";
  const pageSizes: number[] = [];
  while (path !== null) {
    const { statusCode, body, headers } = await website.visit(path);
    assert.equal(statusCode, 200);
    assert.equal(headers["cache-control"], "public, no-cache");
    pageSizes.push(listTitles(body).length);
    titles.push(...listTitles(body));
    path = findNextPath(body);
  }
  assert.deepEqual(pageSizes, [25, 25, 10]);
  assert.deepEqual(
    titles,
    Array.from({ length: 60 }, (_, index) => `Question m${59 - index}`),
  );
});

test("200: the form filters by words, venue and category, sorts, and keeps the submitted values", async () => {
  const website = await openWebsite();
  addMarket(website, "a", 5, { listing: { title: "Rate cut in March", category: "Economics" } });
  addMarket(website, "b", 7, { listing: { title: "Rate cut in June", category: "Economics", venue: "beta" } });
  addMarket(website, "c", 9, { listing: { title: "Rain", expectedResolutionAt: SAMPLE_AT + DAY_MS } });
  const list = async (query: string) => listTitles((await website.visit(`/markets?${query}`)).body);
  assert.deepEqual(await list("q=rate+cut"), ["Rate cut in June", "Rate cut in March"]);
  assert.deepEqual(await list("q=rate&venue=alpha&category=&sort=volume_24h"), ["Rate cut in March"]);
  assert.deepEqual(await list("category=economics"), ["Rate cut in June", "Rate cut in March"]);
  addMarket(website, "d", 1, { listing: { title: "Senate", category: "Elections" } });
  for (const category of ["Politics", "politics", "elections"])
    assert.deepEqual(await list(`category=${category}`), ["Senate"]);
  const offered = (await website.visit("/markets?category=politics")).body;
  assert.match(offered, /<option value="Politics" selected>/);
  assert.doesNotMatch(offered, /<option value="Elections"/);
  assert.deepEqual(await list("sort=resolution_date"), ["Rain", "Rate cut in March", "Senate", "Rate cut in June"]);
  const { body } = await website.visit("/markets?q=rate%22&venue=beta&category=Economics&sort=updated_at");
  assert.match(body, /<input id="q" [^>]*value="rate&quot;"/);
  for (const selected of ["beta", "Economics", "updated_at"])
    assert.match(body, new RegExp(`<option value="${selected}" selected>`));
});

test("200: a category selects markets by the venue's name for it, even if only their event has one", async () => {
  const website = await openWebsite();
  website.board.applyEvent(sampleEvent("e", { category: "Climate and Weather" }));
  addMarket(website, "rain", 1, { listing: { eventId: "e", title: "Rain" } });
  addMarket(website, "chip", 2, { listing: { title: "Chip", category: "Tech" } });
  addMarket(website, "odd", 3, { listing: { title: "Odd", category: "Mystery" } });
  for (const [category, title] of [
    ["Weather", "Rain"],
    ["technology", "Chip"],
    ["Other", "Odd"],
  ]) {
    const { body } = await website.visit(`/markets?category=${category}`);
    assert.deepEqual(listTitles(body), [title], category);
    assert.match(body, new RegExp(`<option value="${category}" selected>`, "i"));
  }
});

test("422: each invalid field of the list shows its error beside the field, and no market", async () => {
  const website = await openWebsite();
  addMarket(website, "a", 1);
  for (const [query, field] of [
    [`q=${"x".repeat(201)}`, "q"],
    ["venue=gamma", "venue"],
    [`category=${"x".repeat(51)}`, "category"],
    ["sort=price", "sort"],
  ] as const) {
    const { statusCode, body, headers } = await website.visit(`/markets?${query}`);
    assert.equal(statusCode, 422, query);
    assert.equal(headers["cache-control"], "no-store");
    assert.match(body, new RegExp(`id="${field}" [^>]*aria-invalid="true" aria-describedby="${field}-error"`));
    assert.match(body, new RegExp(`<p class="warn small" id="${field}-error" role="alert">[^<]+</p>`));
    assert.deepEqual(listTitles(body), []);
  }
  for (const cursor of ["zz", "x".repeat(3_000)]) {
    const { statusCode, body } = await website.visit(`/markets?cursor=${cursor}`);
    assert.equal(statusCode, 422);
    assert.match(body, /<p class="warn" role="alert">This link does not belong to a page of the list\.<\/p>/);
  }
});

test("200: without a result, the list says whether the service starts or nothing matches", async () => {
  const website = await openWebsite();
  assert.match((await website.visit("/markets")).body, /No markets yet/);
  addMarket(website, "a", 1);
  assert.match((await website.visit("/markets?q=nothing")).body, /No open market matches/);
});

test("200: the page of a market shows its prices in cents and a dash for each unknown value", async () => {
  const website = await openWebsite();
  website.board.applyEvent(sampleEvent("e", { title: "Rates", category: "Economics" }));
  addMarket(website, "a/b", 82_950.92, {
    listing: { eventId: "e", title: "Cut?", url: "https://alpha.example/cut", rules: "Line 1\nLine 2" },
    quote: { bid: 0.605, ask: 0.615, lastPrice: null },
  });
  addMarket(website, "other", 1, { listing: { eventId: "e", title: "Other?" } });
  const { statusCode, body } = await website.visit("/markets/alpha/a%2Fb?period=30d");
  assert.equal(statusCode, 200);
  for (const [name, value] of [
    ["Bid", "60.5¢"],
    ["Ask", "61.5¢"],
    ["Spread", "1.0¢"],
    ["Last trade", "–"],
    ["24 h volume", "$82,951"],
    ["Liquidity", "–"],
    ["Status", "Open"],
    ["Closes", "–"],
  ])
    assert.ok(body.includes(`<dt>${name}</dt><dd>${value}</dd>`), name);
  assert.match(body, /<dd>Economics<\/dd>/);
  assert.match(body, /<strong>61\.0¢<\/strong> Yes/);
  assert.match(body, /<a href="\/markets\/alpha\/a%2Fb\?period=30d" aria-current="true">30d<\/a>/);
  assert.match(body, /href="https:\/\/alpha\.example\/cut" rel="noopener noreferrer nofollow">View on Alpha</);
  assert.match(body, /Line 1\nLine 2/);
  assert.match(body, /curl &quot;http:\/\/127\.0\.0\.1:8787\/v1\/markets\/alpha\/a%2Fb&quot;/);
  assert.deepEqual(listTitles(body), ["Other?"]);
  assert.match(
    body,
    /aria-label="Yes price since Nov 20, 22:00, before which no price is known: from 35\.0¢ to 41\.0¢ \(\+6\.0¢\), lowest 35\.0¢, highest 50\.0¢\."/,
  );
});

test("200: a settled market shows its outcome, payout and time", async () => {
  const website = await openWebsite();
  const show = async (outcome: Outcome, status: "finalized" | "determined" = "finalized") => {
    addMarket(website, "a", 1, { listing: { status, outcome, resolvedAt: SAMPLE_AT } });
    return (await website.visit("/markets/alpha/a")).body;
  };
  const at = "Nov 21, 2026, 00:00:00 UTC";
  assert.ok(
    (await show({ kind: "yes" })).includes(`<strong>Settled: Yes</strong> · a Yes contract pays 100.0¢ · ${at}<`),
  );
  assert.ok((await show({ kind: "no" })).includes(`<strong>Settled: No</strong> · a Yes contract pays 0.0¢ · ${at}<`));
  assert.ok(
    (await show({ kind: "partial", value: 0.25 })).includes("Settled in part</strong> · a Yes contract pays 25.0¢"),
  );
  assert.ok((await show({ kind: "void", value: null })).includes(`<strong>Void</strong> · ${at}<`));
  assert.ok((await show({ kind: "yes" }, "determined")).includes(`${at} · not final`));
});

test("200: the page of a market whose trading has ended has past-tense labels and omits an unknown 24-hour change", async () => {
  const website = await openWebsite();
  const times = { closeAt: SAMPLE_AT - 2 * DAY_MS, expectedResolutionAt: SAMPLE_AT - DAY_MS };
  const show = async (listing: SampleParts["listing"]) => {
    addMarket(website, "a", 1, { listing: { ...times, ...listing } });
    return (await website.visit("/markets/alpha/a")).body;
  };
  const closed = await show({ status: "closed" });
  assert.match(closed, /<dt>Closed<\/dt><dd>Nov 19, 2026<\/dd>\s*<dt>Result expected<\/dt><dd>Nov 20, 2026<\/dd>/);
  const settled = await show({ status: "finalized", outcome: { kind: "yes" }, resolvedAt: SAMPLE_AT });
  assert.match(settled, /<dt>Closed<\/dt><dd>Nov 19, 2026<\/dd>\s*<dt>Settled<\/dt><dd>Nov 21, 2026<\/dd>/);
  for (const body of [closed, settled]) {
    assert.match(body, /<dt>Last read<\/dt>/);
    assert.match(body, /<p class="headline"><strong>41\.0¢<\/strong> Yes<\/p>/);
    assert.doesNotMatch(body, /Closes|Price confirmed|in 24 h/);
  }
});

test("200: without a history, or if it fails or takes too long, the page is sent without a chart", async () => {
  const failures: readonly [() => Promise<never>, RegExp][] = [
    [() => Promise.reject(new AppError("store_unavailable", "x")), /not available at the moment/],
    [() => Promise.reject(new VenueError("timeout", "x", { retryable: true })), /not available at the moment/],
  ];
  for (const [readHistory, message] of failures) {
    const website = await openWebsite({ readHistory });
    addMarket(website, "a", 1);
    const { statusCode, body } = await website.visit("/markets/alpha/a");
    assert.equal(statusCode, 200);
    assert.match(body, message);
    assert.doesNotMatch(body, /<figure/);
  }
  const empty = await openWebsite({
    readHistory: async (_market, period) => ({ period, intervalSeconds: 60, generatedAt: SAMPLE_AT, points: [] }),
  });
  addMarket(empty, "a", 1);
  assert.match((await empty.visit("/markets/alpha/a")).body, /No prices are known for the last 7 days/);
  const slow = await openWebsite({ readHistory: () => new Promise(() => {}) });
  addMarket(slow, "a", 1);
  const pendingResponse = slow.visit("/markets/alpha/a");
  await slow.clock.advance(1_500);
  assert.match((await pendingResponse).body, /not available at the moment/);
  const broken = await openWebsite({ readHistory: () => Promise.reject(new TypeError("x")) });
  addMarket(broken, "a", 1);
  assert.equal((await broken.visit("/markets/alpha/a")).statusCode, 500);
});

test("404: unknown markets, unknown venues and pending markets; the venue is not asked", async () => {
  const website = await openWebsite();
  addMarket(website, "pending", 1, { listing: { status: "pending" } });
  addMarket(website, "a", 1, { listing: { venue: "gamma" } });
  for (const path of ["alpha/none", "alpha/pending", "gamma/a", "%00/%00", "alpha/..%2f"]) {
    const { statusCode, body } = await website.visit(`/markets/${path}`);
    assert.equal(statusCode, 404, path);
    assert.match(body, /<h1>Not found<\/h1>/);
    assert.match(body, /<a href="\/markets">Browse markets<\/a>/);
  }
});

test("429: an IP address gets at most 60 pages with markets per minute; other addresses are not affected", async () => {
  const website = await openWebsite();
  addMarket(website, "a", 1);
  const from = "203.0.113.7";
  for (let visit = 0; visit < 60; visit++)
    assert.equal((await website.visit(visit % 2 === 0 ? "/markets" : "/markets/alpha/a", { from })).statusCode, 200);
  const response = await website.visit("/markets", { from });
  assert.equal(response.statusCode, 429);
  assert.equal(response.headers["retry-after"], "60");
  assert.match(response.body, /<h1>Too many attempts<\/h1>/);
  assert.equal((await website.visit("/", { from })).statusCode, 200);
  assert.equal((await website.visit("/markets")).statusCode, 200);
  await website.clock.advance(60_000);
  assert.equal((await website.visit("/markets", { from })).statusCode, 200);
});

test("429: an IPv6 /48 gets four times the pages of a /64", async () => {
  const website = await openWebsite();
  const visitFrom = async (network: number) =>
    (await website.visit("/markets", { from: `2001:db8:0:${network}::1` })).statusCode;
  for (let visit = 0; visit < 240; visit++) assert.equal(await visitFrom(visit % 4), 200);
  assert.equal(await visitFrom(4), 429);
});

test("texts of venues add no element, no link and no attribute to any page", async () => {
  const show = async (text: string, url: string) => {
    const website = await openWebsite();
    const listing = { eventId: text, title: `${text} `, category: text, rules: text, outcomeLabel: text, url };
    website.board.applyEvent(sampleEvent(text, { title: text, category: text, description: text, url }));
    addMarket(website, text, 1, { listing });
    const encodedId = encodeURIComponent(text.toWellFormed());
    return Promise.all(
      [
        "/",
        "/markets",
        `/markets?q=${encodedId}&category=${encodedId.slice(0, 20).replace(/%.?$/, "")}`,
        `/markets/alpha/${encodedId}`,
      ].map(async (path) => (await website.visit(path)).body),
    );
  };
  const plainCounts = (await show("plain", "javascript:alert(1)")).map(countElements);
  for (const text of hostileTexts) {
    const pages = await show(text, text);
    for (const [index, page] of pages.entries()) {
      if (index === 2) continue;
      assert.equal(countElements(page), plainCounts[index], text);
    }
    for (const page of pages) {
      assert.doesNotMatch(page.replace(TAG_PATTERN, ""), /[<>]/, text);
      for (const [, attributes = ""] of page.matchAll(TAG_PATTERN))
        for (const [, name = "", value = ""] of attributes.matchAll(/\s([a-z-]+)(?:="([^"]*)")?/gi)) {
          assert.doesNotMatch(name, /^(?:on|style|srcdoc|autofocus)/i, text);
          if (/^(?:href|src|action)$/.test(name)) assert.match(value, /^(?:\/(?!\/)|https:\/\/|#main$)/, text);
        }
    }
  }
});

test("long texts of venues are shortened", async () => {
  const website = await openWebsite();
  addMarket(website, "a", 1, {
    listing: { title: "😀".repeat(5_000), rules: "r".repeat(100_000), category: "c".repeat(9_000) },
  });
  for (const path of ["/", "/markets", "/markets/alpha/a"]) {
    const { body } = await website.visit(path);
    assert.ok(body.length < 40_000, `${path}: ${body.length}`);
    assert.ok(body.isWellFormed());
  }
});
