import assert from "node:assert/strict";
import { readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { createTestFolder } from "../../test/support/test-folder.ts";
import { RecordingError } from "./errors.ts";
import { writeFact } from "./fact-lines.ts";
import { type Fact, writeHeader } from "./format.ts";
import { readRecording, recordingFingerprint } from "./read.ts";
import { openRecordingWriter } from "./write.ts";

const STARTED_AT = Date.UTC(2026, 6, 7);
const HEADER = { startedAt: STARTED_AT, source: "a test" };
const BYTES_MAX = 1_000_000;

const folder = await createTestFolder();

function tradeFact(offsetMs: number): Fact {
  const at = STARTED_AT + offsetMs;
  const trade = { tradeId: `t${offsetMs}`, executedAt: at, yesPrice: 0.5, size: 1, takerSide: null };
  return { at, venue: "kalshi", kind: "trade", marketId: "A", trade };
}

async function readAll(file: string) {
  const facts: Fact[] = [];
  const { header, isTruncated } = await readRecording(file, { onHeader() {}, onFact: (fact) => facts.push(fact) });
  return { facts, header, isTruncated };
}

async function writeAll(name: string, facts: readonly Fact[], bytesMax = BYTES_MAX) {
  const file = join(folder, name);
  const writer = await openRecordingWriter({ file, header: HEADER, bytesMax });
  for (const fact of facts) {
    writer.append(fact);
    await writer.ready();
  }
  await writer.close();
  return { file, writer };
}

const facts = Array.from({ length: 5_000 }, (_, index) => tradeFact(index));

for (const name of ["plain.jsonl", "compressed.jsonl.gz"]) {
  test(`${name}: facts are read in the order written`, async () => {
    const { file, writer } = await writeAll(name, facts);
    const { isTruncated, header, facts: readFacts } = await readAll(file);
    assert.deepEqual(readFacts, facts);
    assert.deepEqual([isTruncated, header], [false, HEADER]);
    assert.equal(writer.facts, facts.length);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
  });

  test(`${name}: reads a truncated file up to the last complete line and reports it as truncated`, async () => {
    const { file } = await writeAll(`truncated-${name}`, facts);
    await truncate(file, Math.floor((await stat(file)).size / 2) + 3);
    const readFacts: Fact[] = [];
    const { isTruncated } = await readRecording(file, { onHeader() {}, onFact: (fact) => readFacts.push(fact) });
    assert.equal(isTruncated, true);
    assert.ok(readFacts.length > 100 && readFacts.length < facts.length);
    assert.deepEqual(readFacts, facts.slice(0, readFacts.length));
  });
}

test("gzip reduces a recording to less than half", async () => {
  const { file, writer } = await writeAll("gzip.jsonl.gz", facts);
  assert.ok((await stat(file)).size < writer.bytes / 2);
});

test("does not overwrite an existing file", async () => {
  const { file } = await writeAll("existing.jsonl", facts.slice(0, 1));
  const original = await readFile(file, "utf8");
  await assert.rejects(openRecordingWriter({ file, header: HEADER, bytesMax: BYTES_MAX }), RecordingError);
  assert.equal(await readFile(file, "utf8"), original);
});

test("a file never exceeds the maximum size, and a full file is a valid recording", async () => {
  const { file, writer } = await writeAll("full.jsonl", facts, 10_000);
  const { size } = await stat(file);
  assert.ok(size <= 10_000 && size > 9_000, `${size} bytes`);
  assert.equal(writer.isFull, true);
  const summary = await readRecording(file, { onHeader() {}, onFact() {} });
  assert.deepEqual([summary.isTruncated, summary.facts], [false, writer.facts]);
});

test("writes a fact that is older than the previous fact with the previous fact's time", async () => {
  const { file } = await writeAll("late.jsonl", [tradeFact(10), tradeFact(5), tradeFact(12)]);
  const readOffsetsMs: number[] = [];
  await readRecording(file, { onHeader() {}, onFact: ({ at }) => readOffsetsMs.push(at - STARTED_AT) });
  assert.deepEqual(readOffsetsMs, [10, 10, 12]);
});

test("`ready` waits until the disk catches up; facts above the buffer limit are discarded and counted", async () => {
  const file = join(folder, "fast.jsonl");
  const writer = await openRecordingWriter({ file, header: HEADER, bytesMax: 1e9 });
  const fact: Fact = { ...tradeFact(1), marketId: "x".repeat(400) } as Fact;
  // `append` is synchronous, so nothing is written to disk during this loop.
  while (writer.discarded === 0) writer.append(fact);
  assert.ok(writer.bytes < 34 * 1024 * 1024, `${writer.bytes} bytes buffered`);
  await writer.ready();
  writer.append(fact);
  assert.equal(writer.discarded, 1);
  await writer.close();
  assert.equal((await readRecording(file, { onHeader() {}, onFact() {} })).facts, writer.facts);
});

test("rejects an invalid, an unordered and an overlong line with the file name and the line number", async () => {
  const lines = [writeHeader(HEADER), writeFact(tradeFact(1)), writeFact(tradeFact(2))];
  const write = async (name: string, text: string) => {
    const file = join(folder, name);
    await writeFile(file, text);
    return file;
  };
  const invalidFile = await write("invalid.jsonl", `${lines.join("\n")}\n{"at":1}\n`);
  await assert.rejects(readAll(invalidFile), /invalid\.jsonl, line 4: not a fact of a known kind/);
  const unorderedFile = await write("unordered.jsonl", `${[lines[0], lines[2], lines[1]].join("\n")}\n`);
  await assert.rejects(readAll(unorderedFile), /line 3: 1 ms older than the previous line/);
  const fileWithoutHeader = await write("without-header.jsonl", `${lines.slice(1).join("\n")}\n`);
  await assert.rejects(readAll(fileWithoutHeader), /line 1: not the header/);
  await assert.rejects(readAll(await write("empty.jsonl", "")), /no complete line/);
  await assert.rejects(readAll(join(folder, "absent.jsonl")), RecordingError);
  await assert.rejects(readAll(await write("text.jsonl.gz", "not gzip")), RecordingError);
  const overlongFile = await write("overlong.jsonl.gz", "");
  await writeFile(overlongFile, gzipSync("x".repeat(5_000_000)));
  await assert.rejects(readAll(overlongFile), /line 1: longer than/);
});

test("the fingerprint of a file is stable, and different recordings have different fingerprints", async () => {
  const recording = await writeAll("one.jsonl.gz", facts.slice(0, 2));
  const otherFile = join(folder, "other.jsonl");
  await writeFile(otherFile, `${writeHeader({ ...HEADER, source: "another" })}\n`);
  assert.equal(await recordingFingerprint(recording.file), await recordingFingerprint(recording.file));
  assert.notEqual(await recordingFingerprint(recording.file), await recordingFingerprint(otherFile));
});
