import pg from "pg";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import type { Database } from "../../src/ports/database.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { SkippedError } from "./scenario.ts";

/** Returns the URL of the PostgreSQL server to measure. @throws SkippedError if none is configured */
export function readTestDatabaseUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (url === undefined || url === "") throw new SkippedError("TEST_DATABASE_URL is not set");
  return url;
}

export function hasTestDatabase(): boolean {
  return (process.env.TEST_DATABASE_URL ?? "") !== "";
}

const createUniqueName = (label: string) => `bench_${label}_${process.pid}_${Date.now().toString(36)}`;

/** Chooses the name of a new schema; `drop` drops the schema. */
export function reserveSchema(label: string): { readonly url: string; readonly schema: string; drop(): Promise<void> } {
  const url = readTestDatabaseUrl();
  const schema = createUniqueName(label);
  return {
    url,
    schema,
    async drop() {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(`drop schema if exists ${schema} cascade`);
      await client.end();
    },
  };
}

/** Creates a database, for a service that is configured by URL; `drop` drops it. */
export async function createOwnDatabase(label: string): Promise<{ readonly url: URL; drop(): Promise<void> }> {
  const server = readTestDatabaseUrl();
  const name = createUniqueName(label);
  const runStatement = async (statement: string) => {
    const client = new pg.Client({ connectionString: server });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  await runStatement(`create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url, drop: () => runStatement(`drop database if exists ${name} with (force)`) };
}

/** Opens the production store in a new schema; `drop` closes the store and drops the schema. */
export async function openNewSchema(
  label: string,
): Promise<{ database: Database; url: string; schema: string; drop(): Promise<void> }> {
  const target = reserveSchema(label);
  const database = await openPostgresDatabase({ url: target.url, schema: target.schema, log: quietLog });
  return {
    ...target,
    database,
    async drop() {
      await database.close();
      await target.drop();
    },
  };
}
