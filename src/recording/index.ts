/**
 * Recordings of venue data (docs/recording.md): records the data of venue adapters, and writes and reads recording
 * files.
 */
export type { Fact } from "./format.ts";
export { readRecording, recordingFingerprint } from "./read.ts";
export { recordVenue } from "./record-venue.ts";
export { recordVenues } from "./record-venues.ts";
export { openRecordingWriter } from "./write.ts";
