import { UserFacingError } from "../lib/user-facing-error.ts";

/** A recording cannot be read or written. The message is one sentence made to be shown. */
export class RecordingError extends UserFacingError {
  override readonly name = "RecordingError";
}
