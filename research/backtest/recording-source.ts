/** Facts of a recording (docs/recording.md). */
import { type Fact, readRecording } from "../../src/recording/index.ts";

/**
 * Reads the facts of a recording in the order of their times.
 *
 * @param apply  returns false if a fact belongs to a market that no earlier fact lists
 * @returns  what the recording lacks, as sentences for the report
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
