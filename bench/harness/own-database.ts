import pg from "pg";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import type { Database } from "../../src/ports/database.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { SkippedError } from "./scenario.ts";

/** URL of the PostgreSQL server to measure. @throws SkippedError if none is configured */
export function testDatabaseUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (url === undefined || url === "") throw new SkippedError("TEST_DATABASE_URL is not set");
  return url;
}

export function hasTestDatabase(): boolean {
  return (process.env.TEST_DATABASE_URL ?? "") !== "";
}

const uniqueName = (label: string) => `bench_${label}_${process.pid}_${Date.now().toString(36)}`;

/** A new schema, dropped by `drop`. */
export function ownSchema(label: string): { readonly url: string; readonly schema: string; drop(): Promise<void> } {
  const url = testDatabaseUrl();
  const schema = uniqueName(label);
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

/** A new database, for a service that is configured by URL; dropped by `drop`. */
export async function ownDatabase(label: string): Promise<{ readonly url: URL; drop(): Promise<void> }> {
  const server = testDatabaseUrl();
  const name = uniqueName(label);
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

/** The production store in a new schema. */
export async function openOwnSchema(
  label: string,
): Promise<{ database: Database; url: string; schema: string; drop(): Promise<void> }> {
  const target = ownSchema(label);
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
