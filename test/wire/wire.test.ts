import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { createTestFolder } from "../support/test-folder.ts";
import { checkFolder, formatReport, isFailed } from "./check-folder.ts";
import { readRecording, type WrapAdapter } from "./read-recording.ts";
import { isReadable, parseEndpoint, readRecordings } from "./recording.ts";
import type { Row } from "./rows.ts";

const FIXTURES = join(import.meta.dirname, "fixtures");

/** Fields of each part that are compared, in the order of the texts below. Absent values are "-". */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  market: ["market", "read_by", "status", "outcome", "bid", "ask", "yes_price", "volume_total", "mutually_exclusive"],
  frame: ["frame", "kind", "market", "bid", "ask", "yes_price", "size", "taker_side"],
  book: ["bid", "bid_size", "ask", "ask_size", "bids", "bids_size", "bids_value", "asks", "asks_size", "asks_value"],
  history: ["at", "yes_price", "bid", "ask", "volume"],
  trade: ["at", "yes_price", "size", "taker_side"],
};

function textsOf(parts: ReadonlyMap<string, readonly Row[]>): string[] {
  return [...parts].flatMap(([name, rows]) => {
    const [part = ""] = name.split(" ");
    const wanted = rows.filter(({ kind }) => part in FIELDS && kind !== "commands");
    const show = (value: Row[string] | undefined) =>
      typeof value === "number" ? String(Number(value.toFixed(9))) : String(value ?? "") || "-";
    return wanted.map((row) => [part, ...(FIELDS[part] ?? []).map((field) => show(row[field]))].join(" "));
  });
}

test("the adapters' results for hand-written payloads of every venue equal the expected texts of index.json", async () => {
  const index: readonly { file: string; expected: readonly string[] }[] = JSON.parse(
    await readFile(join(FIXTURES, "index.json"), "utf8"),
  );
  const recordings = (await readRecordings(FIXTURES)).filter(isReadable);
  assert.equal(recordings.length, index.length);
  for (const recording of recordings) {
    const expected = index.find(({ file }) => file === recording.file)?.expected;
    assert.deepEqual(textsOf(await readRecording(recording, [])), expected, recording.file);
  }
});

const FAULTS: readonly (readonly [name: string, field: RegExp, wrap: WrapAdapter])[] = [
  [
    "bid and ask are swapped",
    /^market \d+ bid$/,
    (adapter) => ({
      ...adapter,
      async findMarket(...query) {
        const page = await adapter.findMarket(...query);
        const swapped = page?.markets.map(({ quote, ...rest }) => ({
          ...rest,
          quote: { ...quote, bid: quote.ask, ask: quote.bid },
        }));
        return page === null ? null : { ...page, markets: swapped ?? [] };
      },
    }),
  ],
  ["a market is missing", /^market \d+ read_by$/, (adapter) => ({ ...adapter, findMarket: async () => null })],
  ["a book is missing", /^book \d+ bids_value$/, (adapter) => ({ ...adapter, getBook: async () => null })],
  [
    "a trade is missing",
    /^trade \d+ $/,
    (adapter) => ({ ...adapter, listTrades: async (...query) => (await adapter.listTrades(...query)).slice(1) }),
  ],
  [
    "signals of the stream are missing",
    /^frame \d+ kind$/,
    (adapter) => ({
      ...adapter,
      openStream: ({ onMessage, ...handlers }) =>
        adapter.openStream({ ...handlers, onMessage: (message) => message.kind !== "changed" && onMessage(message) }),
    }),
  ],
];

test("the check reports a wrong value of an adapter with its row and field", async () => {
  const expectedFolder = await createTestFolder();
  await checkFolder(FIXTURES, { expectedFolder, isWriting: true });
  assert.deepEqual((await checkFolder(FIXTURES, { expectedFolder })).filter(isFailed), []);
  for (const [name, field, wrapAdapter] of FAULTS) {
    const failed = (await checkFolder(FIXTURES, { expectedFolder, wrapAdapter })).filter(isFailed);
    const fields = failed.flatMap(({ differences }) => differences.map((each) => `${each.row} ${each.field}`));
    assert.ok(
      fields.some((each) => field.test(each)),
      `${name}: ${fields.join(", ")}`,
    );
  }
});

test("a wrong row that is not sampled in the table is reported as a difference in the totals", async () => {
  const folder = await createTestFolder();
  const trades = Array.from({ length: 60 }, (_, index) => ({
    trade_id: `t${index}`,
    ticker: "KXRAIN-26DEC01-T1",
    count_fp: "3.00",
    yes_price_dollars: "0.4300",
    taker_side: "no",
    created_time: "2026-11-20T11:00:00Z",
  }));
  const entry = { file: "trades.json", venue: "kalshi", channel: "GET /markets/trades", captured_at: "2026-11-20" };
  await writeFile(join(folder, "index.json"), JSON.stringify([entry]));
  await writeFile(join(folder, "trades.json"), JSON.stringify({ trades }));
  await checkFolder(folder, { expectedFolder: folder, isWriting: true });
  const isSampled = new Set((await readFile(join(folder, "kalshi.jsonl"), "utf8")).match(/trade \d+/g));
  assert.ok(!isSampled.has("trade 2") && isSampled.has("trade 60"));
  const wrapAdapter: WrapAdapter = (adapter) => ({
    ...adapter,
    listTrades: async (...query) =>
      (await adapter.listTrades(...query)).map((trade, index) => (index === 1 ? { ...trade, size: 4 } : trade)),
  });
  const [result] = await checkFolder(folder, { expectedFolder: folder, wrapAdapter });
  assert.deepEqual(
    result?.differences.map(({ row, field }) => `${row} ${field}`),
    ["trade totals hash", "trade totals size"],
  );
  assert.match(formatReport(result === undefined ? [] : [result], 5), /size: expected \[60,180\], got \[60,181\]/);
});

test("recordings that have no expected values, have no rows or cannot be read are reported and do not end the run", async () => {
  const folder = await createTestFolder();
  await cp(join(FIXTURES, "kalshi-markets.json"), join(folder, "markets.json"));
  await writeFile(join(folder, "broken.json"), "{not JSON");
  const entry = { file: "markets.json", venue: "kalshi", channel: "GET /events", captured_at: "2026-11-20T12:00:00Z" };
  const write = (...entries: readonly unknown[]) => writeFile(join(folder, "index.json"), JSON.stringify(entries));
  const problems = async (isWriting: boolean) =>
    (await checkFolder(folder, { expectedFolder: folder, isWriting })).map(
      ({ file, problem }) => `${file}: ${problem?.replace(/[:"].*/, "").trim() ?? null}`,
    );
  await write(entry);
  assert.deepEqual(await problems(false), ["markets.json: the table has no expected values; add them with --write"]);
  assert.deepEqual(await problems(true), ["markets.json: null"]);
  await write(
    { ...entry, file: "broken.json" },
    { ...entry, file: "absent.json" },
    { ...entry, file: "status.json", channel: "GET /exchange/status" },
    { ...entry, file: "undated.json", captured_at: "yesterday" },
    { ...entry, venue: "unknown" },
    "no object",
    { ...entry, channel: "GET /markets/trades" },
  );
  assert.deepEqual(await problems(false), [
    "broken.json: the file cannot be read",
    "absent.json: the file cannot be read",
    "status.json: no adapter of",
    "undated.json: the index entry has no capture time (captured_at)",
    "markets.json: no adapter of",
    "(no file): the index entry names no file",
    "markets.json: no row of this endpoint is in the file",
  ]);
});

test("a recording of an endpoint that no adapter requests is reported and does not fail the run", async () => {
  const folder = await createTestFolder();
  const entry = { file: "a.json", venue: "polymarket", channel: "GET /clob-markets/{id}", captured: "2026-10-05 *" };
  await writeFile(join(folder, "index.json"), JSON.stringify([entry]));
  await writeFile(join(folder, "a.json"), "{}");
  const results = await checkFolder(folder, { expectedFolder: folder });
  assert.deepEqual(results.filter(isFailed), []);
  assert.match(formatReport(results, 5), /a\.json \| +\| no adapter requests this endpoint\n\n0 files with 0 rows/);
});

test("a recording whose rows are all dropped is checked by the counts of the drops", async () => {
  const folder = await createTestFolder();
  const entry = { file: "a.json", venue: "kalshi", channel: "GET /markets/trades", captured: "2026-11-20" };
  const write = (...ids: readonly string[]) =>
    writeFile(join(folder, "a.json"), JSON.stringify(ids.map((trade_id) => ({ trade_id, ticker: "KX-A", count: 1 }))));
  await writeFile(join(folder, "index.json"), JSON.stringify([entry]));
  await write("1", "2");
  await checkFolder(folder, { expectedFolder: folder, isWriting: true });
  assert.deepEqual((await checkFolder(folder, { expectedFolder: folder })).filter(isFailed), []);
  await write("1");
  const [result] = await checkFolder(folder, { expectedFolder: folder });
  assert.deepEqual(result?.differences, [{ row: "drops 1", field: "bad_trade", expected: "2", actual: "1" }]);
});

test("the check reports a recording that is named in the table but not in the index", async () => {
  const expectedFolder = await createTestFolder();
  const line = { file: "gone.json", row: "market 1", market: "KX-A" };
  await writeFile(join(expectedFolder, "kalshi.jsonl"), `${JSON.stringify(line)}\n`);
  const results = await checkFolder(FIXTURES, { expectedFolder });
  const gone = results.find(({ file }) => file === "gone.json");
  assert.equal(gone?.problem, "the index does not name this recording");
});

test("the command exits with 1 if values are missing or the folder has no index", async () => {
  const run = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, [join(import.meta.dirname, "main.ts"), ...args]).then(
      ({ stdout }) => ({ code: 0, output: stdout }),
      (error: { code: number; stdout: string; stderr: string }) => ({
        code: error.code,
        output: error.stdout + error.stderr,
      }),
    );
  const failed = await run(FIXTURES, "--only", "kalshi-markets");
  assert.deepEqual([failed.code, /add them with --write/.test(failed.output)], [1, true]);
  const absent = await run(join(FIXTURES, "absent"));
  assert.deepEqual([absent.code, /index\.json cannot be read/.test(absent.output)], [1, true]);
  assert.equal((await run("--help")).code, 0);
});

test("endpoints are recognised in all forms that an index may use", () => {
  const kinds: readonly (readonly [venue: string, channel: string, kind: string | undefined])[] = [
    ["kalshi", "GET /markets?series_ticker={series}&status=settled|closed", "markets"],
    ["kalshi", "GET /markets (without mve_filter=exclude)", "markets"],
    ["kalshi", "GET https://api.example.com/trade-api/v2/markets/{ticker}/orderbook", "book"],
    ["kalshi", "GET /series/{series}/markets/{ticker}/candlesticks", "history"],
    ["kalshi", "`WS orderbook_delta`", "stream"],
    ["polymarket", "GET /public-search?q=", "markets"],
    ["polymarket", "GET data-api /v2/trades?condition=", "trades"],
    ["polymarket", "`GET data-api /v2/resolutions?condition=` (four answers), `GET /clob-markets/{id}`", "resolutions"],
    ["polymarket", "`GET /clob-markets/{condition id of 64 digits}`", "unread"],
    ["kalshi", "the fields price_level_structure and price_ranges of a market", "markets"],
    ["limitless", "GET /markets/{group slug}", "markets"],
    ["limitless", "Socket.IO /markets", "stream"],
    ["manifold", "GET /market/{id}, POST …/resolve", "markets"],
    ["manifold", "GET /v0/bets?market=&limit=45", "trades"],
    ["manifold", "GET /market/{id}/prob", undefined],
  ];
  for (const [venue, channel, kind] of kinds) assert.equal(parseEndpoint(venue, channel)?.kind, kind, channel);
});

/** Returns a difference of a row as JSON: `"bid":"0.4"` for "get bid: 0.4". */
function toField(difference: string): string {
  const [, field, value] = /^(?:find|get|list|changes) ([\w.]+): (.*)$/.exec(difference) ?? [];
  assert.ok(field !== undefined && value !== undefined, difference);
  return `"${field}":"${value}"`;
}

test("the committed table contains no text of a venue: titles and labels are hashes", async () => {
  const folder = join(import.meta.dirname, "expected");
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith(".jsonl"));
  assert.ok(files.length >= 8);
  for (const file of files) {
    // A list of differences may be long, so each is checked as a field of its own.
    const text = (await readFile(join(folder, file), "utf8")).replaceAll(
      /"differences":"([^"]*)"/g,
      (_, differences: string) => differences.split("; ").map(toField).join(","),
    );
    for (const [, value = ""] of text.matchAll(/"(?:title|label|event_title)":"([^"]*)"/g)) {
      assert.match(value, /^(?:#[0-9a-f]{8}|null)$/);
    }
    const longTexts = [...text.matchAll(/"([^"]*)"/g)].filter(([, value = ""]) => value.split(" ").length > 5);
    assert.deepEqual(longTexts, [], file);
  }
});
