/** Parses the command line and runs a command. Each command imports its modules on demand, so that `--help` is fast. */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { addEnvFile } from "../config/env-file.ts";
import { UserFacingError } from "../lib/user-facing-error.ts";
import { isArgumentError, print, reportFailure } from "./terminal.ts";

const version: string = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).version;

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
  if (name === "customers" || name === "matches" || name === "track-record")
    return runAsOperator(name, operatorArguments);
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
  const { RECORD_USAGE, renderUsage } = await import("./usage.ts");
  if (values.help === true) return print(command === "record" ? RECORD_USAGE : renderUsage(version));
  if (values.version === true) return print(`${version}\n`);
  if (rest.length > 0) return reportFailure(`Unexpected arguments: ${rest.join(" ")}. Try --help.`);
  const settings = addEnvFile(process.env);
  const environment = values.live === true ? { ...settings, PARALLAX_MODE: "live" } : settings;
  const { parseConfig } = await import("../config/config.ts");
  if (command === "serve") {
    const { serve } = await import("./serve.ts");
    return serve(parseConfig(environment), version, environment);
  }
  if (command === "sandbox") {
    const { runSandbox } = await import("./sandbox.ts");
    return runSandbox(parseConfig(environment), {
      port: values.port,
      genesis: values.genesis,
      isChild: values["with-parent"] === true,
    });
  }
  if (command === "record") {
    const { runRecord } = await import("./record.ts");
    return runRecord(environment, values);
  }
  if (command === "openapi") {
    const { writeOpenApi } = await import("./openapi.ts");
    return writeOpenApi(parseConfig(environment), values.write ?? null);
  }
  reportFailure(`There is no command "${command}". Try --help.`);
}

async function runAsOperator(name: "customers" | "matches" | "track-record", argv: readonly string[]): Promise<void> {
  const { runOperatorCommand } = await import("./operator/run.ts");
  const environment = addEnvFile(process.env);
  if (name === "customers") {
    const load = async () => (await import("./customers/run.ts")).CUSTOMERS_PROGRAM;
    return runOperatorCommand(name, load, argv, environment);
  }
  if (name === "matches") {
    const load = async () => (await import("./matches/run.ts")).MATCHES_PROGRAM;
    return runOperatorCommand(name, load, argv, environment);
  }
  const load = async () => (await import("./track-record/run.ts")).TRACK_RECORD_PROGRAM;
  return runOperatorCommand(name, load, argv, environment);
}
