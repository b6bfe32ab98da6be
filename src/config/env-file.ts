import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { UserFacingError } from "../lib/user-facing-error.ts";
import type { Environment } from "./settings-reader.ts";

const DEFAULT_FILE = ".env";
const IGNORED_LINE_PATTERN = /^\s*(?:#.*)?$/;
const ASSIGNMENT_PATTERN = /^\s*(?:export\s+)?[A-Za-z_][A-Za-z0-9_]*=(|\S.*)$/;
/** A quoted value with nothing but a comment after it. */
const QUOTED_VALUE_PATTERN = /^(?:"[^"]*"|'[^']*'|`[^`]*`)\s*(?:#.*)?$/;
const QUOTE_PATTERN = /^["'`]/;
/** `parseEnv` ends an unquoted value at the first `#`. A shell ends it only at a `#` that follows a space. */
const UNQUOTED_HASH_PATTERN = /^[^#]*[^\s#]#/;

/**
 * The file with settings cannot be read or is malformed. The message contains no values, because they may be secrets.
 */
export class EnvFileError extends UserFacingError {
  override readonly name = "EnvFileError";
}

/**
 * Adds the settings of the file in `PARALLAX_ENV_FILE`, by default `.env` in the working directory, to the environment.
 * Variables of the environment take precedence. A missing default file is ignored.
 *
 * @throws EnvFileError if the file cannot be read, or a line is neither `NAME=value`, a comment nor empty
 */
export function addEnvFile(environment: Environment): Environment {
  const path = environment.PARALLAX_ENV_FILE || DEFAULT_FILE;
  return { ...parseLines(path, readText(path, path === DEFAULT_FILE)), ...environment };
}

function readText(path: string, isOptional: boolean): string {
  try {
    return readFileSync(path, "utf8").replace(/^\ufeff/, "");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "ENOENT" && isOptional) return "";
    throw new EnvFileError(`The settings file ${path} cannot be read (${code}). Correct it, or set PARALLAX_ENV_FILE.`);
  }
}

/**
 * `parseEnv` skips what it cannot parse, so each line is checked first. Values over several lines are not supported.
 */
function parseLines(path: string, text: string): Environment {
  for (const [index, line] of text.split("\n").entries()) {
    const error = findLineError(line.trimEnd());
    if (error !== null) throw new EnvFileError(`${path}, line ${index + 1}: ${error}.`);
  }
  return parseEnv(text) as Environment;
}

function findLineError(line: string): string | null {
  if (IGNORED_LINE_PATTERN.test(line)) return null;
  const value = ASSIGNMENT_PATTERN.exec(line)?.[1];
  if (value === undefined) return "write NAME=value without spaces around =";
  if (!QUOTE_PATTERN.test(value)) return UNQUOTED_HASH_PATTERN.test(value) ? "quote a value that contains #" : null;
  return QUOTED_VALUE_PATTERN.test(value) ? null : "close the quote at the end of the value";
}
