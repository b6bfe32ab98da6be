import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { RecordingError } from "./errors.ts";
import { parseFact } from "./fact-lines.ts";
import { type Fact, LINE_CHARS_MAX, LineError, parseHeader, type RecordingHeader } from "./format.ts";

export interface RecordingReader {
  onHeader(header: RecordingHeader): void;
  /** Called in ascending order of `at`. May throw `LineError` to reject the line. */
  onFact(fact: Fact): void;
}

export interface RecordingSummary {
  readonly header: RecordingHeader;
  readonly facts: number;
  /** True if the last line was incomplete and ignored, for example because the recorder was killed. */
  readonly isTruncated: boolean;
}

/**
 * Reads a recording line by line. A file name ending in .gz means gzip.
 * @throws RecordingError with the line number if a line is invalid or older than the previous one
 */
export async function readRecording(file: string, reader: RecordingReader): Promise<RecordingSummary> {
  let header: RecordingHeader | null = null;
  let facts = 0;
  let lineNumber = 0;
  let newestAt = Number.NEGATIVE_INFINITY;
  const onLine = (line: string) => {
    lineNumber += 1;
    try {
      if (header === null) {
        header = parseHeader(line);
        newestAt = header.startedAt;
        reader.onHeader(header);
        return true;
      }
      const fact = parseFact(line);
      if (fact.at < newestAt) throw new LineError(`${newestAt - fact.at} ms older than the previous line`);
      newestAt = fact.at;
      reader.onFact(fact);
      facts += 1;
      return true;
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      throw new RecordingError(`${file}, line ${lineNumber}: ${error.message}.`);
    }
  };
  const isTruncated = await readLines(file, onLine);
  if (header === null) throw createNoCompleteLineError(file);
  return { header, facts, isTruncated };
}

/** Returns a 32-bit hash of the header line, which identifies the recording. */
export async function recordingFingerprint(file: string): Promise<number> {
  let headerLine: string | null = null;
  await readLines(file, (line) => {
    headerLine = line;
    return false;
  });
  if (headerLine === null) throw createNoCompleteLineError(file);
  return createHash("sha256").update(headerLine).digest().readUInt32BE(0);
}

const createNoCompleteLineError = (file: string) =>
  new RecordingError(`${file} is not a recording: it contains no complete line.`);

/** Calls `onLine` with each complete line until `onLine` returns false. Returns whether the last line is incomplete. */
async function readLines(file: string, onLine: (line: string) => boolean): Promise<boolean> {
  const source = createReadStream(file);
  const text = file.endsWith(".gz") ? source.pipe(createGunzip()) : source;
  // `pipe()` does not forward errors; without this handler, decompression would never end.
  source.on("error", (error) => text.destroy(error));
  text.setEncoding("utf8");
  let incompleteLine = "";
  let lineCount = 0;
  try {
    for await (const chunk of text) {
      let start = 0;
      for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", start)) {
        const line = incompleteLine + chunk.slice(start, end);
        incompleteLine = "";
        start = end + 1;
        lineCount += 1;
        if (!onLine(line)) return false;
      }
      incompleteLine += chunk.slice(start);
      if (incompleteLine.length > LINE_CHARS_MAX)
        throw new RecordingError(`${file}, line ${lineCount + 1}: longer than ${LINE_CHARS_MAX} characters.`);
    }
  } catch (error) {
    if (isTruncatedGzip(error)) return true;
    if (error instanceof RecordingError) throw error;
    if (isSystemError(error)) throw new RecordingError(`${file} cannot be read: ${error.message}.`);
    throw error;
  } finally {
    source.destroy();
  }
  return incompleteLine !== "";
}

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? error.code : undefined);
const isTruncatedGzip = (error: unknown) =>
  codeOf(error) === "Z_BUF_ERROR" && error instanceof Error && error.message === "unexpected end of file";
const isSystemError = (error: unknown): error is Error => typeof codeOf(error) === "string";
