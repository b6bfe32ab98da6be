import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import type { ListingPage, StreamHandlers, VenueAdapter } from "../../src/ports/venue.ts";
import { createTestFolder } from "../support/test-folder.ts";
import { checkFolder, type FileResult, type FolderOptions, isFailed } from "./check-folder.ts";
import { parseEndpoint } from "./endpoint.ts";
import { namingFirst } from "./expectation.ts";
import { formatReport } from "./report.ts";
import { KALSHI_SAMPLES } from "./samples/kalshi.ts";
import { LIMITLESS_SAMPLES } from "./samples/limitless.ts";
import { MANIFOLD_SAMPLES } from "./samples/manifold.ts";
import { POLYMARKET_SAMPLES } from "./samples/polymarket.ts";
import type { SampleRecording } from "./samples/sample.ts";

const SAMPLE_RECORDINGS = [...KALSHI_SAMPLES, ...POLYMARKET_SAMPLES, ...LIMITLESS_SAMPLES, ...MANIFOLD_SAMPLES];
const HERE = new URL(".", import.meta.url).pathname;
const runCommand = promisify(execFile);

async function writeFolder(recordings: readonly SampleRecording[], entries?: readonly unknown[]): Promise<string> {
  const folder = await createTestFolder();
  for (const { file, payload } of recordings) {
    const text = JSON.stringify(payload);
    await writeFile(join(folder, file), file.endsWith(".gz") ? gzipSync(text) : text);
  }
  const index = entries ?? recordings.map(({ payload, ...entry }) => entry);
  await writeFile(join(folder, "index.json"), JSON.stringify(index));
  return folder;
}

const sampleOf = (file: string): SampleRecording => {
  const found = SAMPLE_RECORDINGS.find((recording) => recording.file === file);
  if (found === undefined) throw new Error(`no sample ${file}`);
  return found;
};

async function checkOne(recording: SampleRecording, options?: FolderOptions): Promise<FileResult> {
  const [result] = await checkFolder(await writeFolder([recording]), options);
  assert.ok(result !== undefined);
  return result;
}

/** Returns the wrong fields, for example "market KX-A bid". */
const wrongFieldsOf = ({ differences }: FileResult) => [
  ...new Set(differences.map(({ row, field }) => `${row} ${field}`.trim())),
];

/** Changes the markets that an adapter returns. */
function changingMarkets(change: (page: ListingPage) => ListingPage): (adapter: VenueAdapter) => VenueAdapter {
  return (adapter) => ({
    ...adapter,
    async *listOpenMarkets(signal) {
      for await (const page of adapter.listOpenMarkets(signal)) yield change(page);
    },
    getMarkets: async (listings, signal) => change(await adapter.getMarkets(listings, signal)),
    async findMarket(marketId, signal) {
      const page = await adapter.findMarket(marketId, signal);
      return page === null ? null : change(page);
    },
  });
}

test("correct recordings of every venue and kind of data pass, and rows are left out by reason", async () => {
  const results = await checkFolder(await writeFolder(SAMPLE_RECORDINGS));
  assert.deepEqual(
    results.filter(isFailed).map(({ file, problem, differences }) => ({ file, problem, differences })),
    [],
  );
  const drops = Object.fromEntries(results.map(({ file, dropped }) => [file, dropped]));
  assert.deepEqual(drops["kalshi-events.json"], { no_price: 1, combo_market: 1 });
  assert.deepEqual(drops["kalshi-trades.json"], { block_trade: 1 });
  assert.deepEqual(drops["polymarket-events.json"], { other_outcome: 1, not_binary: 1, missing: 2 });
  assert.deepEqual(drops["limitless-frames.json"], { control_frame: 1, repeated_message: 1 });
  assert.deepEqual(drops["manifold-list.json"], { not_binary: 1 });
  assert.deepEqual(drops["manifold-bets.json"], { not_filled: 1, redemption: 1 });
  for (const { file, rows, parsed, dropped } of results) {
    // A resolution that the recording lacks is no row.
    const { missing: _, ...droppedRows } = dropped;
    const left = Object.values(droppedRows).reduce((sum, count) => sum + count, 0);
    assert.ok(rows > 0 && rows === parsed + left, `${file}: ${rows} rows, ${parsed} parsed, ${left} left out`);
  }
});

test("a compressed recording is read like an uncompressed one", async () => {
  const recording = sampleOf("kalshi-book.json");
  const { rows, wrong } = await checkOne({ ...recording, file: "book.json.gz" });
  assert.deepEqual({ rows, wrong }, { rows: 1, wrong: 0 });
});

test("a wrong bid of an adapter is reported with the expected and the actual value and the recorded fields", async () => {
  const shiftBid = changingMarkets((page) => ({
    ...page,
    markets: page.markets.map((market) => ({ ...market, quote: { ...market.quote, bid: 0.4 } })),
  }));
  const result = await checkOne(sampleOf("limitless-resolved.json"), { wrapAdapter: shiftBid });
  assert.equal(result.wrong, 1);
  const difference = result.differences.find(({ field }) => field === "bid");
  assert.equal(difference?.expected, "0.42");
  assert.equal(difference?.actual, "0.4");
  assert.match(difference?.excerpt ?? "", /"tradePrices"/);
  assert.match(formatReport([result], 10), /market over .* bid: expected 0\.42, got 0\.4/);
});

test("a market that an adapter omits and a market that it must omit are reported", async () => {
  const omitFirst = changingMarkets((page) => ({ ...page, markets: page.markets.slice(1) }));
  const omitted = await checkOne(sampleOf("limitless-resolved.json"), { wrapAdapter: omitFirst });
  assert.deepEqual(wrongFieldsOf(omitted), ["market over"]);
  const renameAll = changingMarkets((page) => ({
    ...page,
    markets: page.markets.map((market) => ({ ...market, listing: { ...market.listing, marketId: "c3" } })),
  }));
  const added = await checkOne(sampleOf("manifold-list.json"), { wrapAdapter: renameAll });
  assert.ok(wrongFieldsOf(added).includes("market c3"));
});

test("wrong trades, books, histories and stream messages are reported", async () => {
  const wrapAdapter = (adapter: VenueAdapter): VenueAdapter => ({
    ...adapter,
    listTrades: async (...query) =>
      (await adapter.listTrades(...query)).map((trade) => ({ ...trade, takerSide: "yes" as const })),
    async getBook(...query) {
      const book = await adapter.getBook(...query);
      return book === null ? null : { ...book, asks: [] };
    },
    getHistory: async (...query) => (await adapter.getHistory(...query)).slice(1),
    openStream: (handlers: StreamHandlers) =>
      adapter.openStream({
        ...handlers,
        onMessage(message) {
          if (message.kind !== "changed") handlers.onMessage(message);
        },
      }),
  });
  const check = async (file: string) => wrongFieldsOf(await checkOne(sampleOf(file), { wrapAdapter }));
  assert.deepEqual(await check("kalshi-trades.json"), ["trade a taker_side"]);
  assert.deepEqual(await check("kalshi-book.json"), [
    "book KXRAIN-26DEC01-T1 ask",
    "book KXRAIN-26DEC01-T1 ask_size",
    "book KXRAIN-26DEC01-T1 yes_price",
    "book KXRAIN-26DEC01-T1",
  ]);
  assert.deepEqual(await check("polymarket-history.json"), ["point 1"]);
  assert.deepEqual(await check("manifold-frames.json"), ["frame 3"]);
});

test("an empty response has no rows, and a response without the rows of its endpoint is not readable", async () => {
  const recording = sampleOf("limitless-tape.json");
  const empty = await checkOne({ ...recording, payload: { slug: "rain", body: { events: [], page: 1 } } });
  assert.deepEqual([empty.rows, empty.problem], [0, null]);
  const other = await checkOne({ ...recording, payload: { message: "Internal error" } });
  assert.match(other.problem ?? "", /no row of this endpoint/);
});

test("a drop that README.md does not document fails the run", async () => {
  const recording = sampleOf("kalshi-trades.json");
  const payload = { trades: [{ trade_id: "x", yes_price_dollars: "0.5", count_fp: "1.00" }], cursor: "" };
  const result = await checkOne({ ...recording, payload });
  assert.equal(isFailed(result), true);
  assert.deepEqual(wrongFieldsOf(result), ["drop bad_trade"]);
});

test("entries that cannot be read are reported and do not end the run", async () => {
  const good = sampleOf("kalshi-book.json");
  const { payload, ...entry } = good;
  const folder = await writeFolder(
    [good],
    [
      entry,
      { ...entry, venue: "unknown" },
      { ...entry, channel: "GET /exchange/status" },
      { ...entry, file: "missing.json" },
      { ...entry, file: "broken.json" },
      { ...entry, file: "../index.json" },
      { ...entry, captured_at: "yesterday" },
      { ...entry, channel: "GET /markets/trades" },
      "no object",
    ],
  );
  await writeFile(join(folder, "broken.json"), "{not JSON");
  const results = await checkFolder(folder);
  assert.deepEqual(
    results.map(({ problem }) => problem?.replace(/:.*|".*/, "").trim() ?? null),
    [
      null,
      "unknown venue",
      "not readable",
      "the file cannot be read",
      "the file is not JSON",
      "the file is outside the folder",
      "the index entry has no capture time (captured_at)",
      "not readable",
      "the index entry names no file",
    ],
  );
  assert.match(formatReport(results, 5), /8 of 9 files are wrong or not readable\.$/);
});

test("the command prints the table and exits with 1 if a file is wrong or the folder has no index", async () => {
  const command = (...args: string[]) =>
    runCommand(process.execPath, [join(HERE, "main.ts"), ...args]).then(
      ({ stdout }) => ({ code: 0, output: stdout }),
      (error: { code: number; stdout: string; stderr: string }) => ({
        code: error.code,
        output: error.stdout + error.stderr,
      }),
    );
  const good = await command(await writeFolder([sampleOf("kalshi-book.json")]));
  assert.equal(good.code, 0);
  assert.match(good.output, /kalshi-book\.json \|\s+1 \|\s+1 \| -\s+\| 0/);
  const bad = await command(await writeFolder([{ ...sampleOf("kalshi-book.json"), channel: "GET /milestones" }]));
  assert.equal(bad.code, 1);
  assert.match(bad.output, /no adapter reads the endpoint "GET \/milestones"/);
  const missing = await command(join(tmpdir(), "no-such-folder"));
  assert.equal(missing.code, 1);
  assert.match(missing.output, /index\.json cannot be read/);
  assert.equal((await command("--help")).code, 0);
});

test("endpoints are recognised in all forms that an index may use", () => {
  const kinds: readonly (readonly [venue: string, channel: string, kind: string | undefined])[] = [
    ["kalshi", "GET /markets?series_ticker={series}&status=settled|closed", "markets"],
    ["kalshi", "GET /markets (without mve_filter=exclude)", "markets"],
    ["kalshi", "GET https://api.example.com/trade-api/v2/markets/{ticker}/orderbook", "book"],
    ["kalshi", "GET /series/{series}/markets/{ticker}/candlesticks", "history"],
    ["kalshi", "GET /series/fee_changes", undefined],
    ["kalshi", "WS orderbook_delta", "stream"],
    ["polymarket", "GET /public-search?q=", "markets"],
    ["polymarket", "WS market (custom_feature_enabled)", "stream"],
    ["limitless", "GET /markets/{group slug}", "markets"],
    ["limitless", "GET /markets/active/slugs", undefined],
    ["limitless", "Socket.IO /markets", "stream"],
    ["manifold", "GET /market/{id}, POST …/resolve", "markets"],
    ["manifold", "GET /market/{id} (probed live, trimmed there)", "markets"],
    ["manifold", "GET /v0/bets?market=&limit=45", "trades"],
    ["manifold", "GET /market/{id}/prob", undefined],
  ];
  for (const [venue, channel, kind] of kinds) assert.equal(parseEndpoint(venue, channel)?.kind, kind, channel);
});

test("a label names the first side only if it does not name both equally", () => {
  const { matches } = namingFirst("Paris", "Paris FC");
  assert.equal(matches("Winner: Paris"), true);
  assert.equal(matches("Paris FC"), false);
  assert.equal(namingFirst("Over", "Under").matches("Overtime"), false);
  assert.equal(namingFirst("Ants", "Bees").matches("Ants vs Bees"), false);
  assert.equal(namingFirst("Ants", "Bees").matches("Ants vs Bees: Ants"), true);
});

test("the oracle imports nothing from the product", async () => {
  const files = [
    ...(await readdir(join(HERE, "expected"))).map((file) => `expected/${file}`),
    "json.ts",
    "expectation.ts",
  ];
  for (const file of files) {
    const text = await readFile(join(HERE, file), "utf8");
    const imported = [...text.matchAll(/from "([^"]+)"/g)].map(([, path = ""]) => path);
    for (const path of imported) assert.match(path, /^(\.\/|\.\.\/(json|expectation)\.ts$)/, `${file} imports ${path}`);
  }
});
