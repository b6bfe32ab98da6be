import type { Db } from "pg-boss";
import type { Database, Transaction } from "../../ports/database.ts";
import { splitScript } from "./split-script.ts";

type Rows = Record<string, unknown>[];

const TRANSACTION_FRAME_PATTERN = /^(begin|commit)$/i;

async function runAll(transaction: Transaction, statements: readonly string[]): Promise<Rows> {
  const rows: Rows = [];
  for (const statement of statements) rows.push(...(await transaction.query(statement)));
  return rows;
}

/**
 * Runs pg-boss's SQL on the service's store. The store cannot run a script of several statements as one statement, so
 * such a script is split and run in one transaction. Scripts have no parameters.
 */
export function createBossStore(database: Database): Db {
  return {
    async executeSql(text, values = []) {
      if (values.length > 0) return { rows: await database.query(text, values) };
      const statements = splitScript(text).filter((statement) => !TRANSACTION_FRAME_PATTERN.test(statement));
      const [statement = "", ...others] = statements;
      if (others.length === 0) return { rows: await database.query(statement) };
      return { rows: await database.transaction((transaction) => runAll(transaction, statements)) };
    },
  };
}

/** Runs pg-boss's SQL in an open transaction. */
export function createTransactionStore(transaction: Transaction): Db {
  return {
    async executeSql(text, values = []) {
      if (values.length > 0) return { rows: await transaction.query(text, values) };
      return { rows: await runAll(transaction, splitScript(text)) };
    },
  };
}
