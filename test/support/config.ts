import assert from "node:assert/strict";
import { type Config, parseConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/config-error.ts";
import type { Environment } from "../../src/config/settings-reader.ts";

export const parseEnvironment = (environment: Environment = {}): Config => parseConfig(environment);

/** Returns the errors of an invalid environment. */
export function configErrors(environment: Environment): readonly string[] {
  try {
    parseEnvironment(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.errors;
    throw error;
  }
  throw new Error("the settings were accepted");
}

/** Asserts that an environment is invalid and that its errors match. */
export function assertConfigError(environment: Environment, expected: RegExp, message?: string): void {
  assert.match(configErrors(environment).join(), expected, message);
}
