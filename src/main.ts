/** Parses the command line and runs a command. Each command imports its modules on demand, so that `--help` is fast. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { isArgumentError, print, reportFailure } from "./commands/terminal.ts";
import { RECORD_USAGE, renderUsage } from "./commands/usage.ts";
import { parseConfig } from "./config/config.ts";
import { addEnvFile } from "./config/env-file.ts";
import { UserFacingError } from "./lib/user-facing-error.ts";
import { VENUE_SERVICES } from "./venues/registry.ts";

const version: string = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;

/** Entry point of `bin/parallax.mjs`. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await run(argv);
  } catch (error) {
    if (error instanceof UserFacingError || isArgumentError(error)) reportFailure(error.message);
    else throw error;
  }
}

async function run(argv: readonly string[]): Promise<void> {
  const [name = "", ...operatorArguments] = argv;
  if (name === "customers" || name === "matches" || name === "track-record") {
    const { runOperatorCommand } = await import("./commands/operator/run.ts");
    const environment = addEnvFile(process.env);
    if (name === "customers") {
      const { CUSTOMERS_PROGRAM } = await import("./commands/customers/run.ts");
      return runOperatorCommand(CUSTOMERS_PROGRAM, operatorArguments, environment);
    }
    if (name === "matches") {
      const { MATCHES_PROGRAM } = await import("./commands/matches/run.ts");
      return runOperatorCommand(MATCHES_PROGRAM, operatorArguments, environment);
    }
    const { TRACK_RECORD_PROGRAM } = await import("./commands/track-record/run.ts");
    return runOperatorCommand(TRACK_RECORD_PROGRAM, operatorArguments, environment);
  }
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      live: { type: "boolean" },
      help: { type: "boolean", short: "h" },
      version: { type: "boolean" },
      "with-parent": { type: "boolean" },
      port: { type: "string" },
      genesis: { type: "string" },
      write: { type: "string" },
      out: { type: "string" },
      minutes: { type: "string" },
      venues: { type: "string" },
      "max-megabytes": { type: "string" },
    },
  });
  const [command = "serve", ...rest] = positionals;
  if (values.help === true) return print(command === "record" ? RECORD_USAGE : renderUsage(version));
  if (values.version === true) return print(`${version}\n`);
  if (rest.length > 0) return reportFailure(`Unexpected arguments: ${rest.join(" ")}. Try --help.`);
  const settings = addEnvFile(process.env);
  const environment = values.live === true ? { ...settings, PARALLAX_MODE: "live" } : settings;
  if (command === "serve") {
    const { serve } = await import("./commands/serve.ts");
    return serve(parseConfig(environment, VENUE_SERVICES), version);
  }
  if (command === "sandbox") {
    const { runSandbox } = await import("./commands/sandbox.ts");
    return runSandbox(parseConfig(environment, VENUE_SERVICES), {
      port: values.port,
      genesis: values.genesis,
      isChild: values["with-parent"] === true,
    });
  }
  if (command === "record") {
    const { runRecord } = await import("./commands/record.ts");
    return runRecord(environment, values);
  }
  if (command === "openapi") {
    const { writeOpenApi } = await import("./commands/openapi.ts");
    return writeOpenApi(parseConfig(environment, VENUE_SERVICES), values.write ?? null);
  }
  reportFailure(`There is no command "${command}". Try --help.`);
}
