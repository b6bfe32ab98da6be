import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { groupPairs } from "./groups.ts";
import { type PairRow, readLabelledPairs, readListings } from "./rows.ts";

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "matching-rows-"));
});
after(() => rm(folder, { recursive: true, force: true }));

async function fileWith(content: string | Buffer): Promise<string> {
  const path = join(folder, "rows.jsonl");
  await writeFile(path, content);
  return path;
}

const side = (venue: string, id: string, title = `title ${id}`) => ({ venue, id, title });
const pair = (a: PairRow["a"], b: PairRow["b"]): PairRow => ({
  a,
  b,
  same: true,
  relation: "equivalent",
  grain: "market",
});

test("a plain and a gzipped file give the same pairs, and blank lines are skipped", async () => {
  const rows = [pair(side("x", "1"), side("y", "2")), pair(side("x", "3"), side("y", "4"))];
  const text = `${rows.map((row) => JSON.stringify(row)).join("\n\n")}\n`;
  assert.deepEqual(await readLabelledPairs(await fileWith(text)), rows);
  assert.deepEqual(await readLabelledPairs(await fileWith(gzipSync(text))), rows);
  assert.deepEqual(await readLabelledPairs(await fileWith("")), []);
});

test("the error has the line number of invalid JSON or of an invalid row", async () => {
  const good = JSON.stringify(pair(side("x", "1"), side("y", "2")));
  await assert.rejects(readLabelledPairs(await fileWith(`${good}\n{"a": `)), /line 2: not valid JSON/);
  await assert.rejects(readLabelledPairs(await fileWith(`${good}\n\n{"same": true}`)), /line 3: not a pair/);
  await assert.rejects(readLabelledPairs(await fileWith(`${good}\nnull`)), /line 2: not a pair/);
  await assert.rejects(readListings(await fileWith('{"title": 1}')), /line 1: not a listing/);
});

test("a listing that occurs twice in the file is returned once", async () => {
  const text = [side("x", "1"), side("x", "1"), side("y", "1")].map((row) => JSON.stringify(row)).join("\n");
  assert.equal((await readListings(await fileWith(text))).length, 2);
});

test("pairs that share a question, directly or through other pairs, are in one group", () => {
  const groups = groupPairs([
    pair(side("x", "a"), side("y", "b")),
    pair(side("x", "c"), side("y", "d")),
    pair(side("x", "a"), side("z", "e")),
    pair(side("w", "f"), side("z", "e")),
  ]);
  assert.deepEqual(groups, [0, 1, 0, 0]);
});

test("questions of one venue that differ only in numbers and months are in one group; questions of two venues are not", () => {
  const groups = groupPairs([
    pair(side("x", "a", "Rain in May 2026?"), side("y", "b", "other")),
    pair(side("x", "c", "Rain in June 2027?"), side("y", "d", "another")),
    pair(side("z", "e", "Rain in May 2026?"), side("y", "f", "third")),
  ]);
  assert.deepEqual(groups, [0, 0, 1]);
});
