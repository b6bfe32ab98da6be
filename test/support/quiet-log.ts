import type { Log } from "../../src/ports/log.ts";

/** A log that says nothing, for tests that do not look at it. */
export const quietLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => quietLog,
};
