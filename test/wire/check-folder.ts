/** Compares all recordings of a folder with the committed table. */
import { basename, resolve } from "node:path";
import { type Parts, readRecording, type WrapAdapter } from "./read-recording.ts";
import { isReadable, type Recording, readRecordings } from "./recording.ts";
import { type Difference, differencesOf, type Line, linesOf, readTable, writeTable } from "./table.ts";

export interface FileResult {
  readonly file: string;
  /** Why the recording could not be checked; null if it was checked. */
  readonly problem: string | null;
  /** Null if no adapter requests the endpoint. */
  readonly rows: number | null;
  readonly differences: readonly Difference[];
}

export interface FolderOptions {
  /** Selects files; all by default. */
  readonly isWanted?: (file: string) => boolean;
  /** Folder of the expected values; by default the one with the name of the recordings' folder in `expected/`. */
  readonly expectedFolder?: string;
  /** Replaces the expected values by the actual ones. */
  readonly isWriting?: boolean;
  readonly wrapAdapter?: WrapAdapter;
}

/** @throws Error if the folder has no usable index.json */
export async function checkFolder(folder: string, options: FolderOptions = {}): Promise<FileResult[]> {
  const { isWanted = () => true, isWriting = false, wrapAdapter } = options;
  const expectedFolder = options.expectedFolder ?? resolve(import.meta.dirname, "expected", basename(resolve(folder)));
  const entries = await readRecordings(folder);
  const recordings = entries.filter(isReadable);
  const unreadable = entries.flatMap((entry) => ("problem" in entry ? [{ ...entry, rows: 0, differences: [] }] : []));
  const results: FileResult[] = unreadable.filter(({ file }) => isWanted(file));
  for (const venue of new Set(recordings.map((recording) => recording.venue))) {
    const expected = await readTable(expectedFolder, venue);
    const ofVenue = recordings.filter((recording) => recording.venue === venue);
    const written: Line[] = [];
    for (const recording of ofVenue) {
      const own = expected.filter(({ file }) => file === recording.file);
      if (!isWanted(recording.file)) written.push(...own);
      else {
        const { lines, ...result } = await checkRecording(recording, ofVenue, isWriting ? null : own, wrapAdapter);
        written.push(...lines);
        results.push(result);
      }
    }
    if (isWriting) await writeTable(expectedFolder, venue, written);
    const missing = expected
      .map(({ file }) => file)
      .filter((file) => !ofVenue.some((recording) => recording.file === file));
    for (const file of isWriting ? [] : [...new Set(missing)].filter(isWanted)) {
      results.push({ file, problem: "the index does not name this recording", rows: 0, differences: [] });
    }
  }
  return results;
}

/** @param expected null if the values are not compared */
async function checkRecording(
  recording: Recording,
  ofVenue: readonly Recording[],
  expected: readonly Line[] | null,
  wrapAdapter?: WrapAdapter,
): Promise<FileResult & { readonly lines: readonly Line[] }> {
  const { file } = recording;
  if (recording.kind === "unread") return { file, problem: null, rows: null, differences: [], lines: [] };
  const payloads = ofVenue.map(({ payload }) => payload);
  let parts: Parts;
  try {
    parts = await readRecording(recording, payloads, wrapAdapter);
  } catch (error) {
    const problem = `the adapter failed: ${error instanceof Error ? error.message : String(error)}`;
    return { file, problem, rows: 0, differences: [], lines: [] };
  }
  const lines = linesOf(file, parts);
  const rows = [...parts].reduce((sum, [part, own]) => sum + (part.startsWith("drops") ? 0 : own.length), 0);
  const differences = expected === null ? [] : differencesOf(expected, lines);
  const hasDrops = lines.some(({ row, values }) => row.startsWith("drops") && Object.keys(values).length > 0);
  if (rows === 0 && !hasDrops)
    return { file, problem: "no row of this endpoint is in the file", rows, differences: [], lines: [] };
  const problem = expected?.length === 0 ? "the table has no expected values; add them with --write" : null;
  return { file, problem, rows, differences: problem === null ? differences : [], lines };
}

/** Whether the run fails because of this file. */
export const isFailed = ({ problem, differences }: FileResult): boolean => problem !== null || differences.length > 0;

/** @param detailsMax  differences shown per file */
export function formatReport(results: readonly FileResult[], detailsMax: number): string {
  const width = Math.max(4, ...results.map(({ file }) => file.length));
  const table = results.map(({ file, rows, differences, problem }) => {
    const state = rows === null ? "no adapter requests this endpoint" : differences.length;
    return [file.padEnd(width), String(rows ?? "").padStart(5), problem === null ? state : "not readable"].join(" | ");
  });
  const details = results.filter(isFailed).map(({ file, problem, differences }) => {
    const shown = differences
      .slice(0, detailsMax)
      .map(({ row, field, expected, actual }) => `  ${row} ${field}: expected ${expected}, got ${actual}`);
    return [`${file}:`, ...(problem === null ? [] : [`  ${problem}`]), ...shown].join("\n");
  });
  const rows = results.reduce((sum, result) => sum + (result.rows ?? 0), 0);
  const checked = results.filter((result) => result.rows !== null);
  const summary =
    details.length === 0
      ? `${checked.length} files with ${rows} rows checked, nothing is wrong.`
      : `${details.length} of ${results.length} files are wrong or not readable.`;
  return [[`${"file".padEnd(width)} |  rows | wrong`, ...table].join("\n"), ...details, summary].join("\n\n");
}
