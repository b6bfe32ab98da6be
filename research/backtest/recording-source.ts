/** Reads a recording (docs/recording.md) as a source of facts. */
import { type Fact, readRecording } from "../../src/recording/index.ts";

/**
 * Passes the facts of a recording to `apply`, in time order.
 *
 * @param apply  returns false if a fact belongs to a market that no earlier fact lists
 * @returns  the defects of the recording, as sentences for the report
 * @throws RecordingError if the file cannot be read or a line is invalid
 */
export async function readRecordedFacts(file: string, apply: (fact: Fact) => boolean): Promise<string[]> {
  let unlisted = 0;
  const { isTruncated } = await readRecording(file, {
    onHeader() {},
    onFact(fact) {
      if (!apply(fact)) unlisted += 1;
    },
  });
  return [
    ...(isTruncated ? ["The last line of the recording is incomplete and was ignored."] : []),
    ...(unlisted > 0
      ? [`${unlisted} facts belong to markets that the recording does not list; they were ignored.`]
      : []),
  ];
}
