import type { MessagePort } from "node:worker_threads";
import type { Log, LogFields } from "../../ports/log.ts";
import { cleanFields } from "./pino-log.ts";

const LEVELS = ["debug", "info", "warn", "error"] as const;
type Level = (typeof LEVELS)[number];

interface Line {
  readonly level: Level;
  readonly fields: LogFields;
  readonly message: string;
}

/** Writes the lines of another thread (`openPortLog`) to the log of this thread. */
export function serveLog(port: MessagePort, log: Log): void {
  port.on("message", ({ level, fields, message }: Line) => log[level](fields, message));
}

/**
 * Opens the log in a worker thread. The other end of `port` must run `serveLog`.
 *
 * @param levelMin  lines of lower levels are not sent
 */
export function openPortLog(port: MessagePort, levelMin: Level): Log {
  const withFields = (common: LogFields): Log => {
    const writer = (level: Level) => (fields: LogFields, message: string) => {
      if (LEVELS.indexOf(level) < LEVELS.indexOf(levelMin)) return;
      // `postMessage` would drop the extra fields of an error, so the fields are converted to plain data.
      port.postMessage({ level, fields: cleanFields({ ...common, ...fields }), message } satisfies Line);
    };
    return {
      debug: writer("debug"),
      info: writer("info"),
      warn: writer("warn"),
      error: writer("error"),
      child: (fields) => withFields({ ...common, ...fields }),
    };
  };
  return withFields({});
}
