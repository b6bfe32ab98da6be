import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { RecordingError } from "./errors.ts";
import { type Fact, LINE_CHARS_MAX, LineFault, type RecordingHeader, readFact, readHeader } from "./format.ts";

export interface RecordingReader {
  onHeader(header: RecordingHeader): void;
  /** In the order of their `at`. @throws LineFault to refuse the line */
  onFact(fact: Fact): void;
}

export interface RecordingSummary {
  readonly header: RecordingHeader;
  readonly facts: number;
  /** The last line was cut in the middle, as by a process that was killed; it was left out. */
  readonly isCut: boolean;
}

/**
 * Reads a recording from its first to its last line, gzip where the name ends in .gz.
 * @throws RecordingError naming the line when it is malformed, or older than the one before
 */
export async function readRecording(file: string, reader: RecordingReader): Promise<RecordingSummary> {
  let header: RecordingHeader | null = null;
  let facts = 0;
  let number = 0;
  let newest = Number.NEGATIVE_INFINITY;
  const take = (line: string) => {
    number += 1;
    try {
      if (header === null) {
        header = readHeader(line);
        newest = header.startedAt;
        reader.onHeader(header);
        return undefined;
      }
      const fact = readFact(line);
      if (fact.at < newest) throw new LineFault(`older by ${newest - fact.at} ms than the line before`);
      newest = fact.at;
      reader.onFact(fact);
      facts += 1;
      return undefined;
    } catch (error) {
      if (!(error instanceof LineFault)) throw error;
      throw new RecordingError(`${file}, line ${number}: ${error.message}.`);
    }
  };
  const isCut = await eachLine(file, take);
  if (header === null) throw new RecordingError(`${file} holds no whole line, so it is no recording.`);
  return { header, facts, isCut };
}

/** A number of 32 bits that tells one recording from another: made from its first line. */
export async function recordingFingerprint(file: string): Promise<number> {
  let first: string | null = null;
  await eachLine(file, (line) => {
    first = line;
    return "enough";
  });
  if (first === null) throw new RecordingError(`${file} holds no whole line, so it is no recording.`);
  return createHash("sha256").update(first).digest().readUInt32BE(0);
}

/** Gives every whole line; true when the file ends in the middle of one. */
async function eachLine(file: string, take: (line: string) => "enough" | undefined): Promise<boolean> {
  const raw = createReadStream(file);
  const text = file.endsWith(".gz") ? raw.pipe(createGunzip()) : raw;
  // A failure of the file itself would otherwise leave the unpacking waiting for more.
  raw.on("error", (error) => text.destroy(error));
  text.setEncoding("utf8");
  let rest = "";
  let lines = 0;
  try {
    for await (const chunk of text) {
      let start = 0;
      for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", start)) {
        const line = rest + chunk.slice(start, end);
        rest = "";
        start = end + 1;
        lines += 1;
        if (take(line) === "enough") return false;
      }
      rest += chunk.slice(start);
      if (rest.length > LINE_CHARS_MAX)
        throw new RecordingError(`${file}, line ${lines + 1}: longer than ${LINE_CHARS_MAX} characters.`);
    }
  } catch (error) {
    if (isUnexpectedEnd(error)) return true;
    if (error instanceof RecordingError) throw error;
    if (isFileError(error)) throw new RecordingError(`${file} cannot be read: ${error.message}.`);
    throw error;
  } finally {
    raw.destroy();
  }
  return rest !== "";
}

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? error.code : undefined);
const isUnexpectedEnd = (error: unknown) =>
  codeOf(error) === "Z_BUF_ERROR" && error instanceof Error && error.message === "unexpected end of file";
const isFileError = (error: unknown): error is Error => typeof codeOf(error) === "string";
