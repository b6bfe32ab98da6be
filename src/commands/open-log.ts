import { createPinoLog } from "../adapters/system/pino-log.ts";
import { formatLogLine, usesColour } from "../adapters/system/terminal-log.ts";
import type { Log } from "../ports/log.ts";
import { print } from "./terminal.ts";

/**
 * Opens the log on standard output: lines for people on a terminal, else JSON lines.
 *
 * @param environment  decides whether the output has colours
 * @param isTerminal  whether standard output is a terminal, which a worker thread cannot find out
 */
export function openLog(
  level: string,
  environment: NodeJS.ProcessEnv,
  isTerminal: boolean = process.stdout.isTTY,
): Log {
  if (!isTerminal) return createPinoLog(level);
  const hasColour = usesColour(environment);
  return createPinoLog(level, { write: (line) => print(formatLogLine(line, { hasColour })) });
}
