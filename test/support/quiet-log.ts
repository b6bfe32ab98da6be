import type { Log } from "../../src/ports/log.ts";

/** A log without output, for tests that do not check log lines. */
export const quietLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => quietLog,
};
