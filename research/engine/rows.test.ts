import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { createRow } from "../../test/support/engine/sample-rows.ts";
import { readEngineFile } from "./rows.ts";

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "engine-rows-"));
});
after(() => rm(folder, { recursive: true, force: true }));

let files = 0;
async function fileWith(content: string | Buffer): Promise<string> {
  const path = join(folder, `${files++}.jsonl`);
  await writeFile(path, content);
  return path;
}
const linesOf = (...rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join("\n");

const QUOTES = {
  ts: "2026-07-04T15:00:00Z",
  contest: "cup",
  outcome: "A",
  first: { ticker: "x", yes_bid: 0.2, yes_ask: 0.3 },
  second: { market_id: "1", yes_bid: null, yes_ask: 0.3 },
};
const DEPTH = { ts: "2026-07-04T15:00:00Z", venue: "v", ticker: "E-A", yes_bids: [[0.2, 5]], no_bids: [[0.7, 3]] };

test("plain and gzipped files of resolved questions are read, and an empty file has no questions", async () => {
  const rows = [createRow(), { ...createRow(), group: undefined, title: null, extra: 1 }];
  for (const content of [linesOf(...rows), gzipSync(linesOf(...rows))]) {
    const file = await readEngineFile(await fileWith(content));
    assert.equal(file.kind, "resolved");
    assert.equal(file.rows.length, 2);
  }
  assert.deepEqual(await readEngineFile(await fileWith("")), { kind: "resolved", rows: [] });
});

test("quotes are read for every venue in a line, and order books are read", async () => {
  const quotes = await readEngineFile(await fileWith(linesOf(QUOTES)));
  assert.deepEqual(quotes.kind === "quotes" && quotes.rows[0]?.sides, [
    { venue: "first", bid: 0.2, ask: 0.3 },
    { venue: "second", bid: null, ask: 0.3 },
  ]);
  const depth = await readEngineFile(await fileWith(linesOf(DEPTH)));
  assert.equal(depth.kind === "depth" && depth.rows[0]?.at, Date.UTC(2026, 6, 4, 15));
});

test("the error has the line number of invalid JSON, an invalid price or time, or a row of another kind", async () => {
  const good = JSON.stringify(createRow());
  for (const [line, message] of [
    ['{"venue": ', /line 2: not valid JSON/],
    [JSON.stringify({ ...createRow(), prices: [["2026-01-01T00:00:00Z", 1.5]] }), /line 2: not a resolved/],
    [JSON.stringify({ ...createRow(), resolved_at: "soon" }), /line 2: not a resolved/],
    [JSON.stringify({ ...createRow(), outcome: null }), /line 2: not a resolved/],
    [JSON.stringify(DEPTH), /line 2: not a resolved/],
    ["null", /line 2: not a resolved/],
  ] as const)
    await assert.rejects(readEngineFile(await fileWith(`${good}\n${line}`)), message);
});
