import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { RecordingError } from "./errors.ts";
import { type Fact, writeFact, writeHeader } from "./format.ts";
import { readRecording, recordingFingerprint } from "./read.ts";
import { openRecordingWriter } from "./write.ts";

const AT = Date.UTC(2026, 6, 7);
const HEADER = { startedAt: AT, source: "a test" };
const BYTES_MAX = 1_000_000;

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "parallax-recording-"));
});
after(() => rm(folder, { recursive: true, force: true }));

function trade(number: number): Fact {
  const at = AT + number;
  const trade = { tradeId: `t${number}`, executedAt: at, yesPrice: 0.5, size: 1, takerSide: null };
  return { at, venue: "kalshi", kind: "trade", marketId: "A", trade };
}

async function readAll(file: string) {
  const facts: Fact[] = [];
  const { header, isCut } = await readRecording(file, { onHeader() {}, onFact: (fact) => facts.push(fact) });
  return { facts, header, isCut };
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

const facts = Array.from({ length: 5_000 }, (_, number) => trade(number));

for (const name of ["plain.jsonl", "packed.jsonl.gz"]) {
  test(`${name}: what is written is read again, in order`, async () => {
    const { file, writer } = await writeAll(name, facts);
    const { isCut, header, ...read } = await readAll(file);
    assert.deepEqual(read.facts, facts);
    assert.deepEqual([isCut, header], [false, HEADER]);
    assert.equal(writer.facts, facts.length);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
  });

  test(`${name}: a file cut in the middle gives what is whole, and says so`, async () => {
    const { file } = await writeAll(`cut-${name}`, facts);
    await truncate(file, Math.floor((await stat(file)).size / 2) + 3);
    const read: Fact[] = [];
    const { isCut } = await readRecording(file, { onHeader() {}, onFact: (fact) => read.push(fact) });
    assert.equal(isCut, true);
    assert.ok(read.length > 100 && read.length < facts.length);
    assert.deepEqual(read, facts.slice(0, read.length));
  });
}

test("a gzip recording is smaller by more than half", async () => {
  const { file, writer } = await writeAll("small.jsonl.gz", facts);
  assert.ok((await stat(file)).size < writer.bytes / 2);
});

test("an existing file is never overwritten", async () => {
  const { file } = await writeAll("mine.jsonl", facts.slice(0, 1));
  const before = await readFile(file, "utf8");
  await assert.rejects(openRecordingWriter({ file, header: HEADER, bytesMax: BYTES_MAX }), RecordingError);
  assert.equal(await readFile(file, "utf8"), before);
});

test("the full size is never exceeded, and what is there then is a whole recording", async () => {
  const { file, writer } = await writeAll("full.jsonl", facts, 10_000);
  const { size } = await stat(file);
  assert.ok(size <= 10_000 && size > 9_000, `${size} bytes`);
  assert.equal(writer.isFull, true);
  const read = await readRecording(file, { onHeader() {}, onFact() {} });
  assert.deepEqual([read.isCut, read.facts], [false, writer.facts]);
});

test("a fact that comes late is written with the time of the one before: a recording never runs backwards", async () => {
  const { file } = await writeAll("late.jsonl", [trade(10), trade(5), trade(12)]);
  const read: number[] = [];
  await readRecording(file, { onHeader() {}, onFact: ({ at }) => read.push(at - AT) });
  assert.deepEqual(read, [10, 10, 12]);
});

test("whoever can wait is let go on when the disk has caught up; what cannot wait is left out and counted", async () => {
  const file = join(folder, "fast.jsonl");
  const writer = await openRecordingWriter({ file, header: HEADER, bytesMax: 1e9 });
  const long = "x".repeat(400);
  const line = { ...trade(1), marketId: long };
  // No turn of the event loop lies between these, so nothing can reach the disk meanwhile.
  while (writer.leftOut === 0) writer.append(line);
  assert.ok(writer.bytes < 34 * 1024 * 1024, `${writer.bytes} bytes wait`);
  await writer.ready();
  writer.append(line);
  assert.equal(writer.leftOut, 1);
  await writer.close();
  assert.equal((await readRecording(file, { onHeader() {}, onFact() {} })).facts, writer.facts);
});

test("a malformed line, one out of order and a refused one stop the reading with their number", async () => {
  const lines = [writeHeader(HEADER), writeFact(trade(1)), writeFact(trade(2))];
  const write = async (name: string, text: string) => {
    const file = join(folder, name);
    await writeFile(file, text);
    return file;
  };
  const garbage = await write("garbage.jsonl", `${lines.join("\n")}\n{"at":1}\n`);
  await assert.rejects(readAll(garbage), /garbage\.jsonl, line 4: no fact of a known kind/);
  const unordered = await write("unordered.jsonl", `${[lines[0], lines[2], lines[1]].join("\n")}\n`);
  await assert.rejects(readAll(unordered), /line 3: older by 1 ms than the line before/);
  const headless = await write("headless.jsonl", `${lines.slice(1).join("\n")}\n`);
  await assert.rejects(readAll(headless), /line 1: not the header/);
  await assert.rejects(readAll(await write("empty.jsonl", "")), /no whole line/);
  await assert.rejects(readAll(join(folder, "absent.jsonl")), RecordingError);
  await assert.rejects(readAll(await write("text.jsonl.gz", "no gzip")), RecordingError);
  const endless = await write("endless.jsonl.gz", "");
  await writeFile(endless, gzipSync("x".repeat(5_000_000)));
  await assert.rejects(readAll(endless), /line 1: longer than/);
});

test("the fingerprint tells recordings apart and stays with the file", async () => {
  const one = await writeAll("one.jsonl.gz", facts.slice(0, 2));
  const other = join(folder, "other.jsonl");
  await writeFile(other, `${writeHeader({ ...HEADER, source: "another" })}\n`);
  assert.equal(await recordingFingerprint(one.file), await recordingFingerprint(one.file));
  assert.notEqual(await recordingFingerprint(one.file), await recordingFingerprint(other));
});
