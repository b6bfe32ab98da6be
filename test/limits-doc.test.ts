import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { lexer, type Tokens } from "marked";

const PROJECT = new URL("..", import.meta.url).pathname;
const LIMIT_COLUMNS = ["What", "Constant", "Value", "At the bound", "Test"];
const TURN_COLUMNS = ["Means", "How turns are given", "Test"];
/** Minimum number of rows. If the format changes and no row is found, the tests fail. */
const LIMITS_MIN = 113;
const TURNS_MIN = 19;

/** Returns the rows, as lists of cells, of all tables with these columns. */
function rowsOf(document: string, columns: readonly string[]): readonly (readonly string[])[] {
  return lexer(document)
    .filter((token): token is Tokens.Table => token.type === "table")
    .filter((table) => table.header.map((cell) => cell.text).join() === columns.join())
    .flatMap((table) => table.rows.map((row) => row.map((cell) => cell.text)));
}

/** Asserts that a test with this title exists. The cell has the form "`file.test.ts`: title". */
async function assertTestExists(cell = ""): Promise<void> {
  const [, file = "", title = ""] = /^`([^`]+\.test\.ts)`: (.+)$/.exec(cell) ?? [];
  assert.notEqual(title, "", `not a test: ${cell}`);
  const text = await readFile(join(PROJECT, file), "utf8");
  assert.ok(text.includes(`"${title}"`) || text.includes(`\`${title}\``), `${file} has no test "${title}"`);
}

/** Asserts that a file declares the constant with this value. The cell has the form "`NAME` in `file.ts`". */
async function assertConstantExists(cell = "", valueCell = ""): Promise<void> {
  const [, name = "", file = ""] = /^`([A-Z0-9_]+)` in `([^`]+\.ts)`$/.exec(cell) ?? [];
  assert.notEqual(name, "", `not a constant: ${cell}`);
  const text = await readFile(join(PROJECT, file), "utf8");
  const value = new RegExp(`^(?:export )?const ${name}(?:: [^=]+)? = ([^;]+);`, "m").exec(text)?.[1];
  assert.equal(value, valueCell.replaceAll("`", ""), `${name} in ${file}`);
}

test("each limit of docs/limits.md has its constant with the stated value, and its test", async () => {
  const rows = rowsOf(await readFile(join(PROJECT, "docs/limits.md"), "utf8"), LIMIT_COLUMNS);
  assert.ok(rows.length >= LIMITS_MIN, `${rows.length} limits`);
  for (const [, constant, value, , testCell] of rows) {
    await assertConstantExists(constant, value);
    await assertTestExists(testCell);
  }
});

test("each shared resource of docs/limits.md names an existing test", async () => {
  const rows = rowsOf(await readFile(join(PROJECT, "docs/limits.md"), "utf8"), TURN_COLUMNS);
  assert.ok(rows.length >= TURNS_MIN, `${rows.length} shared means`);
  for (const [, , testCell] of rows) await assertTestExists(testCell);
});

test("the checks reject a wrong value, an unknown constant and an unknown test", async () => {
  const constant = "`BODY_BYTES_MAX` in `src/http/server.ts`";
  await assert.rejects(assertConstantExists(constant, "`1 * 1024`"), assert.AssertionError);
  await assert.rejects(assertConstantExists("`NO_SUCH_MAX` in `src/http/server.ts`", "`1`"), assert.AssertionError);
  await assert.rejects(assertTestExists("`test/limits-doc.test.ts`: no such title"), assert.AssertionError);
});
