import { once } from "node:events";
import { stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { findVersionFault } from "../../adapters/database/migrations.ts";
import { listJournalDirs } from "../../adapters/metering/journal-dir.ts";
import {
  type OperatorFailure,
  OperatorSocketError,
  requestOverOperatorSocket,
} from "../../adapters/network/operator-socket.ts";
import { DataDirLockedError } from "../../adapters/system/data-dir-lock.ts";
import { createPinoLog } from "../../adapters/system/pino-log.ts";
import { systemClock } from "../../adapters/system/system-clock.ts";
import { type Config, parseConfig } from "../../config/config.ts";
import type { Environment } from "../../config/settings-reader.ts";
import type { Bus } from "../../ports/bus.ts";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import { VENUE_SERVICES } from "../../venues/registry.ts";
import { StartupError } from "../startup-errors.ts";
import type { CommandResult, Operator, OperatorCommand } from "./command.ts";

const OPERATOR_LENGTH_MAX = 64;
const CONFIRMATION_REQUIRED: CommandResult = {
  code: 2,
  out: "",
  err: "This command needs confirmation: run it in a terminal, or add --yes.\n",
};

/** The command never creates or migrates tables; only the service does. */
const VERSION_FAULT_MESSAGES = {
  missing:
    "DATABASE_URL points to a database without Parallax tables: correct DATABASE_URL, or start the service once to create them.",
  older: "The database schema is older than this version: start the service of this version once to migrate it.",
  newer: "The database schema is newer than this version: use the command of that version.",
};

/** The cause and the next step if the service did not run the forwarded command. */
const FORWARD_FAILURE_MESSAGES: Readonly<Record<OperatorFailure, string>> = {
  denied: "only the user that runs the service can send it commands: run this command as that user",
  absent: "it does not accept commands, or not yet: try again when it is ready, or stop it first",
  silent: "it stopped before it responded: list the data to see whether the change was made",
  failed: "it could not run the command: see its log for the reason",
};

/** A command of the program that reads or changes the store. */
export interface OperatorProgram<Context> {
  /** Name on the command line and in forwarded requests. */
  readonly name: string;
  parse(argv: readonly string[]): CommandResult | OperatorCommand<Context>;
  /** Opens the context on a database that no service holds. `publish` wakes running services. */
  open(database: Database, config: Config, publish: (topic: string) => void): Context;
}

/**
 * Runs a command. Standard output holds only the result, for other programs; the log reports errors only.
 *
 * @throws StartupError if the database does not exist or the command cannot be forwarded
 */
export async function runOperatorCommand<Context>(
  program: OperatorProgram<Context>,
  argv: readonly string[],
  environment: Environment,
): Promise<void> {
  const { code, out, err } = await runOnDatabase(program, argv, environment);
  process.stdout.write(out);
  process.stderr.write(err);
  process.exitCode = code;
}

/**
 * Runs the command on the configured database. A running service locks the embedded database; the command is then
 * forwarded to that service. The environment is parsed only for valid commands.
 */
async function runOnDatabase<Context>(
  program: OperatorProgram<Context>,
  argv: readonly string[],
  environment: Environment,
): Promise<CommandResult> {
  const command = program.parse(argv);
  if (typeof command !== "function") return command;
  if (command.confirmation !== null) {
    const refusal = await requestConfirmation(command.confirmation, process.stdin);
    if (refusal !== null) return refusal;
  }
  const config = parseConfig(environment, VENUE_SERVICES);
  const log = createPinoLog("error");
  const operator = readOperatorName();
  const request = {
    command: program.name,
    argv: command.confirmation === null ? argv : [...argv, "--yes"],
    operator,
  };
  if (command.needsService && config.databaseUrl !== null) {
    const answer = await askNodes(request, config);
    if (answer !== null) return answer;
  }
  try {
    const database = await openCheckedDatabase(config, log);
    try {
      return await withBus(config, log, (publish) =>
        command(program.open(database, config, publish), { kind: "operator", id: operator }),
      );
    } finally {
      await database.close();
    }
  } catch (error) {
    if (!(error instanceof DataDirLockedError)) throw error;
    return forwardCommand(request, config, error);
  }
}

/** Asks on the terminal. Returns null if the operator confirmed, else the result of the command. */
async function requestConfirmation(question: string, input: NodeJS.ReadStream): Promise<CommandResult | null> {
  if (!input.isTTY) return CONFIRMATION_REQUIRED;
  // Standard output holds only the result.
  const terminal = createInterface({ input, output: process.stderr });
  const closed = once(terminal, "close").then(() => "");
  const answer = await Promise.race([terminal.question(`${question}\nType "yes" to confirm: `), closed]);
  terminal.close();
  return answer.trim().toLowerCase() === "yes" ? null : { code: 1, out: "", err: "Nothing was changed.\n" };
}

/** Returns the operator's user name, or the user id if it has no name, as in many containers. */
export function readOperatorName(readUserInfo: () => { readonly username: string } = userInfo): string {
  try {
    return readUserInfo().username.slice(0, OPERATOR_LENGTH_MAX);
  } catch {
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}

/** Runs a command of an operator in the service. */
export type CommandRunner = (argv: readonly string[], operator: Operator) => Promise<CommandResult>;

/** Returns a function that runs the forwarded commands, by name. */
export function createForwardedRunner(
  runners: ReadonlyMap<string, CommandRunner>,
): (request: unknown) => Promise<CommandResult> {
  return async (request) => {
    const { command, argv, operator } = request as Readonly<Record<string, unknown>>;
    const run = runners.get(String(command));
    if (run === undefined || !isTextArray(argv) || typeof operator !== "string")
      throw new TypeError("invalid operator command");
    return run(argv, { kind: "operator", id: operator.slice(0, OPERATOR_LENGTH_MAX) });
  };
}

/** Parses a command that was forwarded to the running service, and runs it there. */
export async function runInService<Context>(
  { parse }: Pick<OperatorProgram<Context>, "parse">,
  context: Context,
  argv: readonly string[],
  operator: Operator,
): Promise<CommandResult> {
  const command = parse(argv);
  if (typeof command !== "function") return command;
  if (command.confirmation !== null) return CONFIRMATION_REQUIRED;
  return command(context, operator);
}

const isTextArray = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === "string");

async function openCheckedDatabase(config: Config, log: Log): Promise<Database> {
  if (config.databaseUrl === null) await assertOwnedStore(config.dataDir);
  const { openDatabase } = await import("../open-store.ts");
  const database = await openDatabase(config, log);
  try {
    const fault = await findVersionFault(database);
    if (fault !== null) throw new StartupError(VERSION_FAULT_MESSAGES[fault]);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Requires an existing store owned by this user. Only the service creates stores, because it records the data mode. */
async function assertOwnedStore(dataDir: string): Promise<void> {
  const stats = await stat(join(dataDir, "store")).catch((error: NodeJS.ErrnoException) => {
    const isDenied = error.code === "EACCES" || error.code === "EPERM";
    throw new StartupError(
      isDenied
        ? `No permission to read ${dataDir}: run the command as the user that runs the service.`
        : `There is no database in ${dataDir}: start the service once, or set PARALLAX_DATA_DIR.`,
    );
  });
  const uid = process.getuid?.() ?? stats.uid;
  if (stats.uid === uid) return;
  // Also rejects root: the service could not open the files that this command would create.
  throw new StartupError(`The database in ${dataDir} belongs to user ${stats.uid}: run the command as that user.`);
}

/** Wakes running services before the command ends. Services that miss the message notice the change within seconds. */
async function withBus<Result>(
  config: Config,
  log: Log,
  run: (publish: (topic: string) => void) => Promise<Result>,
): Promise<Result> {
  const { openBus } = await import("../open-store.ts");
  let bus: Bus | null = null;
  const publish = (topic: string) => {
    bus ??= openBus(config, log);
    bus.publish(topic);
  };
  try {
    return await run(publish);
  } finally {
    const openedBus = bus as Bus | null;
    await openedBus?.flush();
    await openedBus?.close();
  }
}

async function forwardCommand(
  request: unknown,
  { dataDir }: Config,
  { pid }: DataDirLockedError,
): Promise<CommandResult> {
  try {
    return (await requestOverOperatorSocket(dataDir, request, systemClock)) as CommandResult;
  } catch (error) {
    if (!(error instanceof OperatorSocketError)) throw error;
    const processDescription = pid === null ? "A process" : `Process ${pid}`;
    throw new StartupError(`${processDescription} is using ${dataDir}: ${FORWARD_FAILURE_MESSAGES[error.failure]}.`);
  }
}

/** Asks the nodes that use this data directory and a database server. Returns the first response; null if there is none. */
async function askNodes(request: unknown, { dataDir }: Config): Promise<CommandResult | null> {
  for (const path of await listJournalDirs(dataDir)) {
    try {
      return (await requestOverOperatorSocket(path, request, systemClock, 1)) as CommandResult;
    } catch (error) {
      if (!(error instanceof OperatorSocketError)) throw error;
    }
  }
  return null;
}
