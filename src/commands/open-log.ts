import { createPinoLog } from "../adapters/system/pino-log.ts";
import { formatLogLine, usesColour } from "../adapters/system/terminal-log.ts";
import type { Log } from "../ports/log.ts";
import { print } from "./terminal.ts";

/**
 * Opens the log on standard output: lines for people on a terminal, else JSON lines.
 *
 * @param environment  decides whether the output has colours
 */
export function openLog(level: string, environment: NodeJS.ProcessEnv): Log {
  if (!process.stdout.isTTY) return createPinoLog(level);
  const hasColour = usesColour(environment);
  return createPinoLog(level, { write: (line) => print(formatLogLine(line, { hasColour })) });
}
