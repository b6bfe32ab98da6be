/** Reads the command line and hands over; no logic of its own. */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { createPinoLog } from "./adapters/pino-log.ts";
import { ConfigError, parseConfig, SETTINGS } from "./config.ts";
import { FaultError, startSandbox } from "./sandbox/main.ts";
import { describeInterface, isPlainFailure, startService } from "./serve.ts";
import { VENUE_SERVICES } from "./venues/registry.ts";

const SANDBOX_PORT = 8790;
const HARD_EXIT_MS = 10_000;
const TERM_GRACE_MS = 2_000;

const version: string = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;

const USAGE = `Parallax ${version}: where is the price wrong, by how much, what should I do, and how often have you been right?

  npm start                      the service, with simulated venues and data in it
  npm start -- --live            the service on the real venues
  npm run sandbox                the simulated venues alone, for other programs' tests
  npm run openapi                writes openapi.json

Commands: serve (default), sandbox, openapi
Options:
  --live             the same as PARALLAX_MODE=live
  --port N           sandbox: the first port (default ${SANDBOX_PORT}; 0 takes free ones)
  --genesis MS       sandbox: when the simulated world began, Unix milliseconds (default now)
  --write FILE       openapi: where to write
  --help, --version

Settings are environment variables (see .env.example). An unknown PARALLAX_* name is a fault.

${SETTINGS.map(({ name, fallback, help }) => `  ${name.padEnd(26)} ${help}${fallback === "" ? "" : ` [${fallback}]`}`).join("\n")}
  PARALLAX_<VENUE>_URL, PARALLAX_<VENUE>_<SERVICE>_URL
                             other addresses of a venue; services: ${Object.entries(VENUE_SERVICES)
                               .map(([venue, services]) => `${venue} ${services.join("/")}`)
                               .join(", ")}
  PARALLAX_<VENUE>_KEY_ID, PARALLAX_<VENUE>_PRIVATE_KEY_FILE
                             key of your account, where a venue's stream wants one
`;

/** Entry point of `bin/parallax.mjs`. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
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
      },
    });
    const [command = "serve", ...more] = positionals;
    if (values.help === true) return say(USAGE);
    if (values.version === true) return say(`${version}\n`);
    if (more.length > 0) return fail(`Too many words: ${more.join(" ")}. Try --help.`);
    const environment = values.live === true ? { ...process.env, PARALLAX_MODE: "live" } : process.env;
    if (command === "serve") return await serve(environment);
    if (command === "sandbox")
      return await sandbox(environment, { ...values, isChild: values["with-parent"] === true });
    if (command === "openapi") return await openapi(environment, values.write ?? null);
    return fail(`There is no command "${command}". Try --help.`);
  } catch (error) {
    if (error instanceof ConfigError || error instanceof FaultError || isUsage(error) || isPlainFailure(error))
      return fail(error.message);
    throw error;
  }
}

async function serve(environment: NodeJS.ProcessEnv): Promise<void> {
  const config = parseConfig(environment, VENUE_SERVICES);
  const log = createPinoLog(config.logLevel);
  const service = await startService({ config, log, version });
  say(service.banner);
  onSignal(async (signal) => {
    // A person at the keyboard waits for nothing; whoever else stops the service may still be sending it requests.
    await service.close({ graceMs: signal === "SIGTERM" ? TERM_GRACE_MS : 0 });
    process.exit(0);
  });
}

/** Runs the simulated venues alone; the base URLs go to standard output as one JSON line. */
async function sandbox(
  environment: NodeJS.ProcessEnv,
  options: { port?: string; genesis?: string; isChild: boolean },
): Promise<void> {
  const { sandbox: settings } = parseConfig(environment, VENUE_SERVICES);
  const genesis = options.isChild
    ? await genesisOfParent()
    : wholeNumber("--genesis", options.genesis ?? String(Date.now()), 8.64e15);
  const running = await startSandbox({
    host: "127.0.0.1",
    firstPort: wholeNumber(
      "--port",
      options.port ?? String(options.isChild ? settings.port : settings.port || SANDBOX_PORT),
      65_500,
    ),
    seed: settings.seed,
    speed: settings.speed,
    marketCount: settings.markets,
    enforceLimits: settings.limits,
    faults: settings.faults,
    genesis,
    now: () => Date.now(),
  });
  say(`${JSON.stringify(running.urls)}\n`);
  onSignal(async () => {
    await running.close();
    process.exit(0);
  });
}

/**
 * The parent knows from its store when the world began, and tells it in one line. Its end of the pipe closes with it,
 * however it dies: then this process ends too, and nobody is left behind on the ports.
 */
async function genesisOfParent(): Promise<number> {
  const lines = createInterface({ input: process.stdin });
  lines.on("close", () => process.exit(0));
  const [line] = await once(lines, "line");
  return wholeNumber("genesis", String(line), 8.64e15);
}

async function openapi(environment: NodeJS.ProcessEnv, file: string | null): Promise<void> {
  const text = `${JSON.stringify(await describeInterface(parseConfig(environment, VENUE_SERVICES)), null, 2)}\n`;
  if (file === null) say(text);
  else writeFileSync(file, text);
}

function wholeNumber(name: string, text: string, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max) throw new ConfigError([`${name} ${text}: give a whole number up to ${max}`]);
  return value;
}

/** The first signal ends in good order, within a bound; the second at once. */
function onSignal(close: (signal: "SIGTERM" | "SIGINT") => Promise<void>): void {
  let isStopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (isStopping) process.exit(1);
      isStopping = true;
      setTimeout(() => process.exit(1), HARD_EXIT_MS).unref();
      close(signal).catch((error: unknown) => fail(String(error)));
    });
  }
}

function say(text: string): void {
  process.stdout.write(text);
}

function fail(message: string): undefined {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
  return undefined;
}

/** What `parseArgs` throws for a word it does not know. */
function isUsage(error: unknown): error is Error {
  return error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}
