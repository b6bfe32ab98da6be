import { stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { openEmbeddedDatabase } from "../../adapters/database/embedded-database.ts";
import { findVersionFault } from "../../adapters/database/migrations.ts";
import { openPostgresDatabase } from "../../adapters/database/postgres-database.ts";
import {
  askOperatorSocket,
  type OperatorFailure,
  OperatorSocketError,
} from "../../adapters/network/operator-socket.ts";
import { DataDirLockedError } from "../../adapters/system/data-dir-lock.ts";
import { systemClock } from "../../adapters/system/system-clock.ts";
import { systemRandom } from "../../adapters/system/system-random.ts";
import { type Accounts, createAccounts } from "../../capabilities/customers/index.ts";
import { KEYS_TOPIC } from "../../capabilities/keys/index.ts";
import type { Config } from "../../config/config.ts";
import type { Bus } from "../../ports/bus.ts";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import { openBus } from "../open-bus.ts";
import { databaseError, StartupError } from "../startup-errors.ts";
import { type CommandResult, type CustomersCommand, parseCustomersCommand } from "./commands.ts";

const OPERATOR_LENGTH_MAX = 64;

/** Why the store cannot be worked on. The command makes and changes no tables: that is the service's to do. */
const VERSION_FAULTS = {
  missing:
    "The database that DATABASE_URL names is no store of Parallax: mend DATABASE_URL, or start the service once.",
  older: "The store is an older version's: start the service of this version once, which brings it up to date.",
  newer: "The store is a newer version's: use the command of that version.",
};

/** What is to be done where the service that holds the data directory has not answered. */
const HAND_OVER_FAULTS: Readonly<Record<OperatorFailure, string>> = {
  denied: "only the user whom the service runs as may give it commands: run this as that user",
  absent: "it takes no commands, or none yet: try again once it is ready, or stop it first",
  silent: "it ended before it answered: the command `customers audit` tells whether the change was made",
  failed: "it could not carry the command out: its log says why",
};

/**
 * Carries a command of `customers` out on the store that the settings name. While a service runs on the embedded store
 * only that process can write there, so the command is handed to it.
 *
 * @param settings  read only when the command is understood
 * @throws StartError where there is no such store, or nobody to hand the command to
 */
export async function runCustomers(argv: readonly string[], settings: () => Config, log: Log): Promise<CommandResult> {
  const command = parseCustomersCommand(argv);
  if (typeof command !== "function") return command;
  const config = settings();
  const operator = operatorName();
  try {
    const database = await openStore(config, log);
    try {
      return await onStore(database, config, log, (accounts) => command(accounts, { kind: "operator", id: operator }));
    } finally {
      await database.close();
    }
  } catch (error) {
    if (!(error instanceof DataDirLockedError)) throw error;
    return handOver(argv, operator, config, error);
  }
}

/** Who works on this machine. A container's user often has no name. */
export function operatorName(user: () => { readonly username: string } = userInfo): string {
  try {
    return user().username.slice(0, OPERATOR_LENGTH_MAX);
  } catch {
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}

/** What the service answers to a command that was handed to it. */
export async function answerOperator(request: unknown, accounts: Accounts): Promise<CommandResult> {
  const { argv, operator } = request as { readonly argv?: unknown; readonly operator?: unknown };
  if (!Array.isArray(argv) || !argv.every((word) => typeof word === "string") || typeof operator !== "string")
    throw new TypeError("not a command");
  const command: CommandResult | CustomersCommand = parseCustomersCommand(argv);
  if (typeof command !== "function") return command;
  return command(accounts, { kind: "operator", id: operator.slice(0, OPERATOR_LENGTH_MAX) });
}

async function openStore(config: Config, log: Log): Promise<Database> {
  const database = await openDatabase(config, log);
  try {
    const fault = await findVersionFault(database);
    if (fault !== null) throw new StartupError(VERSION_FAULTS[fault]);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function openDatabase({ databaseUrl, dataDir, diskReserveMib }: Config, log: Log): Promise<Database> {
  if (databaseUrl !== null) {
    return openPostgresDatabase({ url: databaseUrl, log }).catch((error: unknown) => {
      throw new StartupError(databaseError(databaseUrl, error));
    });
  }
  await assertOwnStore(dataDir);
  return openEmbeddedDatabase({ dataDir, reserveBytes: diskReserveMib * 2 ** 20, log });
}

/** A new store is the service's to make: it alone says whether its data is simulated. */
async function assertOwnStore(dataDir: string): Promise<void> {
  const found = await stat(join(dataDir, "store")).catch((error: NodeJS.ErrnoException) => {
    const isDenied = error.code === "EACCES" || error.code === "EPERM";
    throw new StartupError(
      isDenied
        ? `This user may not look into ${dataDir}: run the command as the user of the service.`
        : `There is no store in ${dataDir}: start the service once, or name it with PARALLAX_DATA_DIR.`,
    );
  });
  const uid = process.getuid?.() ?? found.uid;
  if (found.uid === uid) return;
  // Root could, but the service could then not open the files that this command leaves there.
  throw new StartupError(`The store in ${dataDir} belongs to the user ${found.uid}: run the command as that user.`);
}

/** What the command changes, running services are told before it ends; what they miss they see within a second. */
async function onStore<Result>(
  database: Database,
  config: Config,
  log: Log,
  run: (accounts: Accounts) => Promise<Result>,
): Promise<Result> {
  let bus: Bus | null = null;
  const onKeysChanged = () => {
    bus ??= openBus(config, log);
    bus.publish(KEYS_TOPIC);
  };
  try {
    return await run(createAccounts({ database, clock: systemClock, random: systemRandom, onKeysChanged }));
  } finally {
    const opened = bus as Bus | null;
    await opened?.flush();
    await opened?.close();
  }
}

async function handOver(
  argv: readonly string[],
  operator: string,
  { dataDir }: Config,
  { pid }: DataDirLockedError,
): Promise<CommandResult> {
  try {
    return (await askOperatorSocket(dataDir, { argv, operator }, systemClock)) as CommandResult;
  } catch (error) {
    if (!(error instanceof OperatorSocketError)) throw error;
    const holder = pid === null ? "A process" : `The process ${pid}`;
    throw new StartupError(`${holder} holds ${dataDir}, and ${HAND_OVER_FAULTS[error.failure]}.`);
  }
}
