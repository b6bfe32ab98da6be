import type { Log } from "../../src/ports/log.ts";

/** A log without output, for tests that do not check it. */
export const quietLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => quietLog,
};
