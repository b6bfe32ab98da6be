import { AppError } from "../domain/errors.ts";
import type { Guards } from "./request-pipeline.ts";

const READING_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Guards of a process that checks a backup: requests that may change data are rejected. */
export const READ_ONLY_GUARDS: Guards = {
  beforeAuthentication({ method }) {
    if (!READING_METHODS.has(method))
      throw new AppError("read_only", "This process is read-only, because it checks a backup");
  },
};
