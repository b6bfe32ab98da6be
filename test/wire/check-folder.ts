/** Checks all recordings of a folder. */
import type { VenueAdapter } from "../../src/ports/venue.ts";
import type { CheckContext } from "./check/context.ts";
import { checkKalshi } from "./check/kalshi.ts";
import { checkLimitless } from "./check/limitless.ts";
import { checkManifold } from "./check/manifold.ts";
import { checkPolymarket } from "./check/polymarket.ts";
import { readDocumentedDrops } from "./documented-drops.ts";
import { Findings, type Summary } from "./findings.ts";
import { isEmptyResponse } from "./json.ts";
import { type Recording, readIndex, readRecording } from "./recording.ts";
import { type AdapterSession, openAdapterSession } from "./replay/adapter-session.ts";

const CHECKS: Readonly<Record<string, (context: CheckContext) => Promise<void>>> = {
  kalshi: checkKalshi,
  polymarket: checkPolymarket,
  limitless: checkLimitless,
  manifold: checkManifold,
};

export interface FileResult extends Summary {
  readonly file: string;
  /** Why the recording could not be checked; null if it was checked. */
  readonly problem: string | null;
}

export interface FolderOptions {
  /** Selects files; all by default. */
  readonly isWanted?: (file: string) => boolean;
  /** Replaces the adapter, for tests that show that the check finds errors. */
  readonly wrapAdapter?: (adapter: VenueAdapter) => VenueAdapter;
}

/**
 * Plays every recording of the folder to the real adapters.
 *
 * @throws Error if the folder has no usable index.json
 */
export async function checkFolder(folder: string, options: FolderOptions = {}): Promise<FileResult[]> {
  const { isWanted = () => true, wrapAdapter = (adapter) => adapter } = options;
  const entries = await Promise.all((await readIndex(folder)).map((entry) => readRecording(folder, entry)));
  const recordings = entries.filter((entry): entry is Recording => !("problem" in entry));
  const documentedDrops = await readDocumentedDrops();
  const results: FileResult[] = [];
  for (const entry of entries) {
    if (!isWanted(entry.file)) continue;
    if ("problem" in entry) results.push(unreadableResult(entry.file, entry.problem));
    else {
      const venuePayloads = recordings.filter(({ venue }) => venue === entry.venue).map(({ payload }) => payload);
      results.push(await checkRecording(entry, venuePayloads, documentedDrops(entry.venue), wrapAdapter));
    }
  }
  return results;
}

async function checkRecording(
  recording: Recording,
  venuePayloads: readonly unknown[],
  documentedDrops: ReadonlySet<string>,
  wrapAdapter: (adapter: VenueAdapter) => VenueAdapter,
): Promise<FileResult> {
  const findings = new Findings();
  const sessions: AdapterSession[] = [];
  const open: CheckContext["open"] = async (options) => {
    const session = await openAdapterSession({ venue: recording.venue, now: recording.capturedAt, ...options });
    sessions.push(session);
    return { ...session, adapter: wrapAdapter(session.adapter) };
  };
  let problem: string | null = null;
  try {
    await CHECKS[recording.venue]?.({ recording, venuePayloads, findings, open });
  } catch (error) {
    problem = `the check failed: ${error instanceof Error ? error.message : String(error)}`;
  }
  for (const session of sessions) await session.close(findings);
  for (const reason of Object.keys(findings.summary().dropped)) {
    if (documentedDrops.has(reason)) continue;
    const count = findings.countedDrops.get(reason) ?? 0;
    findings.differ(
      `drop ${reason}`,
      "countDrop",
      "a reason that README.md documents",
      `${reason} (${count})`,
      undefined,
    );
  }
  const isEmpty = !findings.hasRows && !isEmptyResponse(recording.payload);
  if (problem === null && isEmpty) problem = "not readable: no row of this endpoint was found in the file";
  return { file: recording.file, problem, ...findings.summary() };
}

function unreadableResult(file: string, problem: string): FileResult {
  return { file, problem, rows: 0, parsed: 0, dropped: {}, wrong: 0, differences: [] };
}

/** Whether the run fails because of this file. */
export function isFailed({ problem, wrong }: FileResult): boolean {
  return problem !== null || wrong > 0;
}
