/** Recordings of what venue adapters deliver: their format (docs/recording.md), writing and reading. */
export type { Fact } from "./format.ts";
export { readRecording, recordingFingerprint } from "./read.ts";
export { recordVenue } from "./record-venue.ts";
export { recordVenues } from "./record-venues.ts";
export { openRecordingWriter } from "./write.ts";
