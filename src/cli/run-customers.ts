import { stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { DataDirLockedError } from "../adapters/data-dir-lock.ts";
import { openEmbeddedDatabase } from "../adapters/database-embedded.ts";
import { migrateDatabase } from "../adapters/database-migrations.ts";
import { askOperatorSocket, OperatorSocketError } from "../adapters/operator-socket.ts";
import { openPostgresDatabase } from "../adapters/postgres-database.ts";
import { systemClock } from "../adapters/system-clock.ts";
import { systemRandom } from "../adapters/system-random.ts";
import { type Accounts, createAccounts } from "../capabilities/customers/index.ts";
import type { Config } from "../config.ts";
import type { Database } from "../ports/database.ts";
import type { Log } from "../ports/log.ts";
import { databaseFailure, StartError } from "../start-failures.ts";
import { type CommandResult, type CustomersCommand, parseCustomersCommand } from "./customers.ts";

const OPERATOR_LENGTH_MAX = 64;

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
  const operator = userInfo().username.slice(0, OPERATOR_LENGTH_MAX);
  try {
    const database = await openStore(config, log);
    try {
      return await command(accountsOf(database), { kind: "operator", id: operator });
    } finally {
      await database.close();
    }
  } catch (error) {
    if (!(error instanceof DataDirLockedError)) throw error;
    return handOver(argv, operator, config, error);
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
    await migrateDatabase(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function openDatabase({ databaseUrl, dataDir, diskReserveMib }: Config, log: Log): Promise<Database> {
  if (databaseUrl !== null) {
    return openPostgresDatabase({ url: databaseUrl, log }).catch((error: unknown) => {
      throw new StartError(databaseFailure(databaseUrl, error));
    });
  }
  // A new store is the service's to make: it alone says whether its data is simulated.
  const isThere = await stat(join(dataDir, "store")).then(
    () => true,
    () => false,
  );
  if (!isThere)
    throw new StartError(`There is no store in ${dataDir}: start the service once, or name it with PARALLAX_DATA_DIR.`);
  return openEmbeddedDatabase({ dataDir, reserveBytes: diskReserveMib * 2 ** 20, log });
}

function accountsOf(database: Database): Accounts {
  // Services that run on the same store ask it anew within a second.
  return createAccounts({ database, clock: systemClock, random: systemRandom, onKeysChanged() {} });
}

async function handOver(
  argv: readonly string[],
  operator: string,
  { dataDir }: Config,
  locked: DataDirLockedError,
): Promise<CommandResult> {
  try {
    return (await askOperatorSocket(dataDir, { argv, operator })) as CommandResult;
  } catch (error) {
    if (error instanceof OperatorSocketError) throw locked;
    throw error;
  }
}
