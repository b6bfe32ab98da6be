import { UserFacingError } from "../lib/user-facing-error.ts";

/** Thrown if a recording cannot be read or written. The message is one sentence that can be shown to the user. */
export class RecordingError extends UserFacingError {
  override readonly name = "RecordingError";
}
