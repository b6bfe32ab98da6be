/**
 * Reads the command line and hands over; no logic of its own. Each command loads what it needs when it is given: whoever
 * asks for help, or for a customer, does not wait until the whole service is read and compiled.
 */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import type { RecordProgress } from "./commands/record.ts";
import { type Config, ConfigError, hasAllVenueUrls, parseConfig, SETTINGS } from "./config/config.ts";
import { UserFacingError } from "./lib/user-facing-error.ts";
import { VENUE_SERVICES } from "./venues/registry.ts";

const SANDBOX_PORT = 8790;
const HARD_EXIT_MS = 10_000;
const RECORD_MEGABYTES = 2_048;
const PROGRESS_EVERY_MS = 5_000;
const TERM_GRACE_MS = 2_000;

const version: string = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;

const USAGE = `Parallax ${version}: where is the price wrong, by how much, what should I do, and how often have you been right?

  npm start                      the service, with simulated venues and data in it
  npm start -- --live            the service on the real venues
  npm run sandbox                the simulated venues alone, for other programs' tests
  npm run record -- --out FILE   records what the venues send, for the sandbox to replay
  npm run openapi                writes openapi.json
  npx parallax customers --help  customers, keys, plans and quotas, for operators

Commands: serve (default), sandbox, record, openapi, customers
Options:
  --live             the same as PARALLAX_MODE=live
  --port N           sandbox: the first port (default ${SANDBOX_PORT}; 0 takes free ones)
  --genesis MS       sandbox: when the simulated world began, Unix milliseconds (default now)
  --out FILE         record: the new file, gzip where it ends in .gz; "record --help" tells the rest
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

const RECORD_USAGE = `Records what the venues' adapters deliver to a file that PARALLAX_SANDBOX_RECORDING replays.

  npm run record -- --out FILE [--minutes N] [--venues LIST] [--max-megabytes N] [--live]

  --out FILE          a new file; gzip where it ends in .gz
  --minutes N         ends after so long, 1 to 100000 (default: goes on until Ctrl-C)
  --venues LIST       as PARALLAX_VENUES, for this recording
  --max-megabytes N   ends at this size, counted before compression (default ${RECORD_MEGABYTES})
  --live              the real venues; without it simulated ones, unless PARALLAX_<VENUE>_URL names others

Ctrl-C ends the file in good order. docs/recording.md describes what is in it.
`;

/** Entry point of `bin/parallax.mjs`. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    const [first, ...rest] = argv;
    if (first === "customers") return await customers(process.env, rest);
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
    const [command = "serve", ...more] = positionals;
    if (values.help === true) return say(command === "record" ? RECORD_USAGE : USAGE);
    if (values.version === true) return say(`${version}\n`);
    if (more.length > 0) return fail(`Too many words: ${more.join(" ")}. Try --help.`);
    const environment = values.live === true ? { ...process.env, PARALLAX_MODE: "live" } : process.env;
    if (command === "serve") return await serve(environment);
    if (command === "sandbox")
      return await sandbox(environment, { ...values, isChild: values["with-parent"] === true });
    if (command === "record") return await recordVenuesToFile(environment, values);
    if (command === "openapi") return await openapi(environment, values.write ?? null);
    return fail(`There is no command "${command}". Try --help.`);
  } catch (error) {
    if (error instanceof UserFacingError || isUsage(error)) return fail(error.message);
    throw error;
  }
}

async function serve(environment: NodeJS.ProcessEnv): Promise<void> {
  const config = parseConfig(environment, VENUE_SERVICES);
  const [{ createPinoLog }, { startService }] = await Promise.all([
    import("./adapters/system/pino-log.ts"),
    import("./commands/serve.ts"),
  ]);
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
  const config = parseConfig(environment, VENUE_SERVICES);
  const { sandbox: settings } = config;
  // Before the parent is listened to: its store opens meanwhile.
  const { startSandbox } = await import("../sandbox/main.ts");
  const genesis = options.isChild
    ? await genesisOfParent()
    : wholeNumber("--genesis", options.genesis ?? String(Date.now()), 8.64e15);
  const running = await startSandbox({
    ...sandboxOptions(config, genesis),
    firstPort: wholeNumber(
      "--port",
      options.port ?? String(options.isChild ? settings.port : settings.port || SANDBOX_PORT),
      65_500,
    ),
  });
  say(`${JSON.stringify(running.urls)}\n`);
  onSignal(async () => {
    await running.close();
    process.exit(0);
  });
}

function sandboxOptions({ sandbox }: Config, genesis: number) {
  return {
    host: "127.0.0.1",
    seed: sandbox.seed,
    speed: sandbox.speed,
    marketCount: sandbox.markets,
    enforceLimits: sandbox.limits,
    faults: sandbox.faults,
    recording: sandbox.recording === null ? null : { file: sandbox.recording, pastShare: sandbox.recordingPastShare },
    genesis,
    now: () => Date.now(),
  };
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

interface RecordArguments {
  readonly out?: string;
  readonly minutes?: string;
  readonly venues?: string;
  readonly "max-megabytes"?: string;
}

/** Records until the time is over, the file is full or a signal comes; the first one ends it in good order. */
async function recordVenuesToFile(environment: NodeJS.ProcessEnv, values: RecordArguments): Promise<void> {
  const { out, minutes, venues, "max-megabytes": megabytes } = values;
  if (out === undefined || out === "") return fail("Say where to write: --out FILE. Try record --help.");
  const config = parseConfig(
    venues === undefined ? environment : { ...environment, PARALLAX_VENUES: venues },
    VENUE_SERVICES,
  );
  const durationMs = minutes === undefined ? null : 60_000 * wholeNumber("--minutes", minutes, 100_000);
  const bytesMax = 1_000_000 * wholeNumber("--max-megabytes", megabytes ?? String(RECORD_MEGABYTES), 1_000_000);
  const [{ createPinoLog }, { record }] = await Promise.all([
    import("./adapters/system/pino-log.ts"),
    import("./commands/record.ts"),
  ]);
  const sandbox = config.mode === "sandbox" && !hasAllVenueUrls(config) ? await simulateVenues(config) : null;
  const stop = new AbortController();
  onSignal(async () => stop.abort());
  const told = { at: 0 };
  try {
    const result = await record({
      config,
      log: createPinoLog(config.logLevel),
      file: out,
      source: config.mode === "live" ? "live venues" : sandbox === null ? "venues as configured" : "simulated venues",
      durationMs,
      bytesMax,
      urls: sandbox?.urls ?? {},
      signal: stop.signal,
      onProgress(progress) {
        if (!process.stderr.isTTY && Date.now() - told.at < PROGRESS_EVERY_MS) return;
        told.at = Date.now();
        process.stderr.write(process.stderr.isTTY ? `\r${recordLine(progress)}` : `${recordLine(progress)}\n`);
      },
    });
    process.stderr.write(`${process.stderr.isTTY ? "\r" : ""}${recordLine(result)}\nWritten to ${out}.\n`);
  } finally {
    await sandbox?.close();
  }
  process.exit(process.exitCode ?? 0);
}

async function simulateVenues(config: Config) {
  const { startSandbox } = await import("../sandbox/main.ts");
  return startSandbox({ ...sandboxOptions(config, Date.now()), firstPort: config.sandbox.port });
}

function recordLine({ facts, leftOut, bytes, drops }: RecordProgress): string {
  const lost = leftOut === 0 ? "" : `, ${leftOut} left out because the disk did not keep up`;
  return `${facts} facts, ${(bytes / 1e6).toFixed(1)} MB before compression, ${drops} unusable${lost}`;
}

async function openapi(environment: NodeJS.ProcessEnv, file: string | null): Promise<void> {
  const { describeInterface } = await import("./commands/serve.ts");
  const text = `${JSON.stringify(await describeInterface(parseConfig(environment, VENUE_SERVICES)), null, 2)}\n`;
  if (file === null) say(text);
  else writeFileSync(file, text);
}

async function customers(environment: NodeJS.ProcessEnv, argv: readonly string[]): Promise<void> {
  const [{ createPinoLog }, { runCustomers }] = await Promise.all([
    import("./adapters/system/pino-log.ts"),
    import("./commands/customers/run.ts"),
  ]);
  // Its answers are on standard output, for other programs to read: the log has only what is wrong.
  const { code, out, err } = await runCustomers(
    argv,
    () => parseConfig(environment, VENUE_SERVICES),
    createPinoLog("error"),
  );
  process.stdout.write(out);
  process.stderr.write(err);
  process.exitCode = code;
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
