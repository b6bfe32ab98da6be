import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { RecordingError } from "./errors.ts";
import { type Fact, type RecordingHeader, writeFact, writeHeader } from "./format.ts";

/** Waiting text above this is what the disk does not keep up with: whoever can wait is asked to. */
const WAITING_BYTES_EASY = 1024 * 1024;
/** Above this, facts that cannot wait (messages of a stream) are left out and counted. */
const WAITING_BYTES_MAX = 32 * 1024 * 1024;

export interface RecordingWriter {
  /** Facts written so far. */
  readonly facts: number;
  /** Facts left out because the disk did not keep up. */
  readonly leftOut: number;
  /** Size of the text so far, before any compression. */
  readonly bytes: number;
  /** Nothing more is taken: the file has its full size, or cannot be written. */
  readonly isFull: boolean;
  append(fact: Fact): void;
  /** Resolves at once, or when the disk has caught up. */
  ready(): Promise<void>;
  /** Ends the file in good order. @throws RecordingError when it could not be written */
  close(): Promise<void>;
}

export interface RecordingWriterOptions {
  /** Gzip where it ends in .gz. An existing file is not overwritten. */
  readonly file: string;
  readonly header: RecordingHeader;
  /** Bytes of text, before compression, after which nothing more is taken. */
  readonly bytesMax: number;
}

/**
 * Opens a new recording.
 * @throws RecordingError when the file is there already or cannot be made
 */
export async function openRecordingWriter(options: RecordingWriterOptions): Promise<RecordingWriter> {
  const { file, bytesMax } = options;
  const disk = createWriteStream(file, { flags: "wx", mode: 0o600 });
  await new Promise<void>((resolve, reject) => {
    disk.once("open", () => resolve());
    disk.once("error", (error) => reject(new RecordingError(`${file} cannot be written: ${error.message}.`)));
  });
  return startWriting(options, disk, file.endsWith(".gz") ? createGzip() : null, bytesMax);
}

function startWriting(
  { file, header }: RecordingWriterOptions,
  disk: Writable,
  packer: (Writable & NodeJS.ReadableStream) | null,
  bytesMax: number,
): RecordingWriter {
  const first = packer ?? disk;
  packer?.pipe(disk);
  let facts = 0;
  let leftOut = 0;
  let bytes = 0;
  let newest = header.startedAt;
  let isFull = false;
  let failure: Error | null = null;
  let wake: (() => void)[] = [];
  const wakeAll = () => {
    const waiting = wake;
    wake = [];
    for (const resolve of waiting) resolve();
  };
  const ended = finished(disk).catch((error: unknown) => {
    failure = error instanceof Error ? error : new Error(String(error));
    isFull = true;
    wakeAll();
  });
  packer?.on("error", (error) => disk.destroy(error));
  const waiting = () => first.writableLength + (packer === null ? 0 : disk.writableLength);
  disk.on("drain", wakeAll);
  first.on("drain", wakeAll);
  const write = (line: string) => {
    const text = `${line}\n`;
    bytes += Buffer.byteLength(text);
    first.write(text);
  };
  write(writeHeader(header));

  return {
    get facts() {
      return facts;
    },
    get leftOut() {
      return leftOut;
    },
    get bytes() {
      return bytes;
    },
    get isFull() {
      return isFull;
    },
    append(fact) {
      if (isFull) return;
      if (waiting() > WAITING_BYTES_MAX) {
        leftOut += 1;
        return;
      }
      // Clocks may be set back; a recording never runs backwards.
      newest = Math.max(newest, fact.at);
      const line = writeFact(fact.at === newest ? fact : { ...fact, at: newest });
      if (bytes + Buffer.byteLength(line) + 1 > bytesMax) {
        isFull = true;
        wakeAll();
        return;
      }
      write(line);
      facts += 1;
    },
    async ready() {
      if (isFull || waiting() <= WAITING_BYTES_EASY) return;
      await new Promise<void>((resolve) => wake.push(resolve));
    },
    async close() {
      isFull = true;
      first.end();
      await ended;
      if (failure !== null) throw new RecordingError(`${file} could not be written to its end: ${failure.message}.`);
    },
  };
}
