import { UserFacingError } from "../lib/user-facing-error.ts";

/** Lists every error in the settings. */
export class ConfigError extends UserFacingError {
  override readonly name = "ConfigError";
  readonly errors: readonly string[];

  constructor(errors: readonly string[]) {
    const list = errors.map((error) => `\n  - ${error}`).join("");
    super(errors.length === 1 ? `Invalid setting ${errors[0]}` : `${errors.length} invalid settings:${list}`);
    this.errors = errors;
  }
}
