import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { RecordingError } from "./errors.ts";
import { writeFact } from "./fact-lines.ts";
import { type Fact, type RecordingHeader, writeHeader } from "./format.ts";

/** Number of buffered bytes above which `ready` waits for the disk. */
const BUFFERED_BYTES_READY = 1024 * 1024;
/** Number of buffered bytes above which facts are discarded and counted, because stream messages cannot wait. */
const BUFFERED_BYTES_MAX = 32 * 1024 * 1024;

export interface RecordingWriterOptions {
  /** Path of the new file, which must not exist. If it ends in `.gz`, the file is compressed. */
  readonly file: string;
  readonly header: RecordingHeader;
  /** Maximum size in bytes, before compression. */
  readonly bytesMax: number;
}

/**
 * Creates a recording file.
 * @throws RecordingError if the file exists or cannot be created
 */
export async function openRecordingWriter(options: RecordingWriterOptions) {
  const { file } = options;
  const disk = createWriteStream(file, { flags: "wx", mode: 0o600 });
  await new Promise<void>((resolve, reject) => {
    disk.once("open", () => resolve());
    disk.once("error", (error) => reject(new RecordingError(`${file} cannot be written: ${error.message}.`)));
  });
  return startWriter(options, disk, file.endsWith(".gz") ? createGzip() : null);
}

function startWriter(
  { file, header, bytesMax }: RecordingWriterOptions,
  disk: Writable,
  gzip: (Writable & NodeJS.ReadableStream) | null,
) {
  const input = gzip ?? disk;
  gzip?.pipe(disk);
  let facts = 0;
  let discarded = 0;
  let bytes = 0;
  let newestAt = header.startedAt;
  let isFull = false;
  let failure: Error | null = null;
  const waiters: (() => void)[] = [];
  const resolveWaiters = () => {
    for (const resolve of waiters.splice(0)) resolve();
  };
  const diskFinished = finished(disk).catch((error: unknown) => {
    failure = error instanceof Error ? error : new Error(String(error));
    isFull = true;
    resolveWaiters();
  });
  gzip?.on("error", (error) => disk.destroy(error));
  const bufferedBytes = () => input.writableLength + (gzip === null ? 0 : disk.writableLength);
  disk.on("drain", resolveWaiters);
  input.on("drain", resolveWaiters);
  const writeLine = (line: string) => {
    const text = `${line}\n`;
    bytes += Buffer.byteLength(text);
    input.write(text);
  };
  writeLine(writeHeader(header));

  return {
    get facts(): number {
      return facts;
    },
    /** Number of facts discarded because the disk was too slow. */
    get discarded(): number {
      return discarded;
    },
    /** Size of the written lines in bytes, before compression. */
    get bytes(): number {
      return bytes;
    },
    /** True if further facts are ignored because the file reached its maximum size or cannot be written. */
    get isFull(): boolean {
      return isFull;
    },
    append(fact: Fact): void {
      if (isFull) return;
      if (bufferedBytes() > BUFFERED_BYTES_MAX) {
        discarded += 1;
        return;
      }
      // Clocks may be set back, but `at` must not decrease.
      newestAt = Math.max(newestAt, fact.at);
      const line = writeFact(fact.at === newestAt ? fact : { ...fact, at: newestAt });
      if (bytes + Buffer.byteLength(line) + 1 > bytesMax) {
        isFull = true;
        resolveWaiters();
        return;
      }
      writeLine(line);
      facts += 1;
    },
    /** Resolves when the buffer is small enough for more facts. */
    async ready(): Promise<void> {
      if (isFull || bufferedBytes() <= BUFFERED_BYTES_READY) return;
      await new Promise<void>((resolve) => waiters.push(resolve));
    },
    /** Flushes and closes the file. @throws RecordingError if writing failed */
    async close(): Promise<void> {
      isFull = true;
      input.end();
      await diskFinished;
      if (failure !== null) throw new RecordingError(`${file} could not be written completely: ${failure.message}.`);
    },
  };
}
