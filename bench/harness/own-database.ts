import pg from "pg";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import type { Database } from "../../src/ports/database.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { SkippedError } from "./scenario.ts";

/** The server that may be measured. @throws SkippedError where none is named */
export function testDatabaseUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (url === undefined || url === "") throw new SkippedError("TEST_DATABASE_URL is not set");
  return url;
}

export function hasTestDatabase(): boolean {
  return (process.env.TEST_DATABASE_URL ?? "") !== "";
}

const ownName = (word: string) => `bench_${word}_${process.pid}_${Date.now().toString(36)}`;

/** A schema of its own, dropped by `drop`. */
export function ownSchema(word: string): { readonly url: string; readonly schema: string; drop(): Promise<void> } {
  const url = testDatabaseUrl();
  const schema = ownName(word);
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

/** A database of its own, for a service that takes a URL and nothing else; dropped by `drop`. */
export async function ownDatabase(word: string): Promise<{ readonly url: URL; drop(): Promise<void> }> {
  const server = testDatabaseUrl();
  const name = ownName(word);
  const administer = async (statement: string) => {
    const client = new pg.Client({ connectionString: server });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  await administer(`create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url, drop: () => administer(`drop database if exists ${name} with (force)`) };
}

/** The production store in a schema of its own. */
export async function openOwnSchema(
  word: string,
): Promise<{ database: Database; url: string; schema: string; drop(): Promise<void> }> {
  const own = ownSchema(word);
  const database = await openPostgresDatabase({ url: own.url, schema: own.schema, log: quietLog });
  return {
    ...own,
    database,
    async drop() {
      await database.close();
      await own.drop();
    },
  };
}
