import { stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { listJournalDirs } from "../../adapters/metering/journal-dir.ts";
import {
  type OperatorFailure,
  OperatorSocketError,
  requestOverOperatorSocket,
} from "../../adapters/network/operator-socket.ts";
import { DataDirLockedError, readOwnerPid } from "../../adapters/system/data-dir-lock.ts";
import { systemClock } from "../../adapters/system/system-clock.ts";
import type { Config } from "../../config/config.ts";
import { type Environment, SettingsReader } from "../../config/settings-reader.ts";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import { StartupError } from "../startup-errors.ts";
import { type CommandResult, OPERATOR_LENGTH_MAX, type OperatorCommand } from "./command.ts";
import type { ForwardedCommand, ForwardedReply } from "./forwarded.ts";
import { collectCommandInput } from "./needs.ts";

/** Messages for tables of another version, which a command does not migrate. Only the service migrates tables. */
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
  parse(argv: readonly string[]): CommandResult | OperatorCommand<Context>;
  /** Opens the context on a database that no service has locked. `publish` notifies running services. */
  open(database: Database, config: Config, publish: (topic: string) => void): Context;
}

/**
 * Runs a command. Standard output holds only the result, for other programs; the log reports errors only.
 *
 * @param name  name on the command line and in forwarded requests
 * @param load  loads the program in about a second; not called if a running service runs the command
 * @throws StartupError if the database does not exist or the command cannot be forwarded
 */
export async function runOperatorCommand<Context>(
  name: string,
  load: () => Promise<OperatorProgram<Context>>,
  argv: readonly string[],
  environment: Environment,
): Promise<void> {
  const request = { command: name, argv, operator: readOperatorName() };
  const result = (await askHolder(request, environment)) ?? (await runOnDatabase(await load(), request, environment));
  process.stdout.write(result.out);
  process.stderr.write(result.err);
  process.exitCode = result.code;
}

/**
 * Sends the command to the service that has locked the embedded database. Returns null if no service listens, if this
 * user may not send it commands, and for `--help`.
 */
async function askHolder(request: ForwardedCommand, environment: Environment): Promise<CommandResult | null> {
  const settings = new SettingsReader(environment);
  const isHelp = request.argv.includes("--help") || request.argv.includes("-h");
  if (isHelp || settings.text("DATABASE_URL") !== "") return null;
  const dataDir = settings.text("PARALLAX_DATA_DIR");
  try {
    return await sendCommand(dataDir, request, 1);
  } catch (error) {
    if (!(error instanceof OperatorSocketError)) throw error;
    if (error.failure === "absent" || error.failure === "denied") return null;
    throw await createForwardError(dataDir, error);
  }
}

/**
 * Runs the command on the configured database. If a service that is starting locks the embedded database, the command
 * waits for it and is forwarded. The environment is parsed only for valid commands.
 */
async function runOnDatabase<Context>(
  program: OperatorProgram<Context>,
  plainRequest: ForwardedCommand,
  environment: Environment,
): Promise<CommandResult> {
  const { argv, operator } = plainRequest;
  const command = program.parse(argv);
  if (typeof command !== "function") return command;
  const provided = await collectCommandInput(command);
  if ("code" in provided) return provided;
  const request = { ...plainRequest, ...provided };
  const [{ parseConfig }, { createPinoLog }] = await Promise.all([
    import("../../config/config.ts"),
    import("../../adapters/system/pino-log.ts"),
  ]);
  const config = parseConfig(environment);
  const log = createPinoLog("error");
  if (command.needsService && config.databaseUrl !== null) {
    const answer = await askNodes(request, config);
    if (answer !== null) return answer;
  }
  try {
    const database = await openCheckedDatabase(config, log);
    try {
      return await withBus(config, log, (publish) =>
        command(program.open(database, config, publish), { kind: "operator", id: operator }, provided.input),
      );
    } finally {
      await database.close();
    }
  } catch (error) {
    if (!(error instanceof DataDirLockedError)) throw error;
    return forwardCommand(request, config);
  }
}

/** Returns the operator's user name, or the user id if it has no name, as in many containers. */
export function readOperatorName(readUserInfo: () => { readonly username: string } = userInfo): string {
  try {
    return readUserInfo().username.slice(0, OPERATOR_LENGTH_MAX);
  } catch {
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}

async function openCheckedDatabase(config: Config, log: Log): Promise<Database> {
  if (config.databaseUrl === null) await assertOwnedStore(config.dataDir);
  const { openDatabase } = await import("../open-store.ts");
  const { findVersionFault } = await import("../../adapters/database/migrations.ts");
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

/**
 * Notifies running services before the command ends. Services that miss the message detect the change within seconds.
 */
async function withBus<Result>(
  config: Config,
  log: Log,
  run: (publish: (topic: string) => void) => Promise<Result>,
): Promise<Result> {
  const { openBus } = await import("../open-store.ts");
  const topics: string[] = [];
  try {
    return await run((topic) => topics.push(topic));
  } finally {
    // A command that publishes nothing opens no connection.
    if (topics.length > 0) {
      const bus = await openBus(config, log);
      for (const topic of topics) bus.publish(topic);
      await bus.flush();
      await bus.close();
    }
  }
}

async function forwardCommand(request: ForwardedCommand, { dataDir }: Config): Promise<CommandResult> {
  try {
    return await sendCommand(dataDir, request);
  } catch (error) {
    throw error instanceof OperatorSocketError ? await createForwardError(dataDir, error) : error;
  }
}

async function createForwardError(dataDir: string, { failure }: OperatorSocketError): Promise<StartupError> {
  const pid = await readOwnerPid(dataDir);
  const processDescription = pid === null ? "A process" : `Process ${pid}`;
  return new StartupError(`${processDescription} is using ${dataDir}: ${FORWARD_FAILURE_MESSAGES[failure]}.`);
}

/** Sends the command to the nodes of this data directory and a database server. Returns the first response, or null. */
async function askNodes(request: ForwardedCommand, { dataDir }: Config): Promise<CommandResult | null> {
  for (const path of await listJournalDirs(dataDir)) {
    try {
      return await sendCommand(path, request, 1);
    } catch (error) {
      if (!(error instanceof OperatorSocketError)) throw error;
    }
  }
  return null;
}

/**
 * Sends the command to the service that listens in the directory. If the service replies with `CommandRequirements`,
 * asks the operator for them and sends the command again.
 *
 * @throws OperatorSocketError
 */
async function sendCommand(dir: string, request: ForwardedCommand, attemptsMax?: number): Promise<CommandResult> {
  const send = async (message: ForwardedCommand) =>
    (await requestOverOperatorSocket(dir, message, systemClock, attemptsMax)) as ForwardedReply;
  const reply = await send(request);
  if ("code" in reply) return reply;
  const provided = await collectCommandInput(reply);
  if ("code" in provided) return provided;
  const result = await send({ ...request, ...provided });
  if ("code" in result) return result;
  throw new OperatorSocketError("failed", null);
}
