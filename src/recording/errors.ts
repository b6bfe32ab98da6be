/** A recording cannot be read or written. The message is one sentence made to be shown. */
export class RecordingError extends Error {
  override readonly name = "RecordingError";
}
