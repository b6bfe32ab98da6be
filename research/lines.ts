/** Reads files with one JSON value per line, gzipped or not. */
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";

const GZIP_MAGIC = 0x1f8b;

/**
 * Reads the rows of a file. Blank lines are skipped.
 *
 * @param name  name of a row in error messages, such as "a pair"
 * @throws Error with the line number if a line is not valid JSON or not a row
 */
export async function readJsonLines<Row>(
  path: string,
  isRow: (value: unknown) => value is Row,
  name: string,
): Promise<Row[]> {
  const bytes = await readFile(path);
  const isGzip = bytes.length > 2 && bytes.readUInt16BE(0) === GZIP_MAGIC;
  const text = (isGzip ? gunzipSync(bytes) : bytes).toString("utf8");
  const rows: Row[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch (error) {
      throw new Error(`${path}, line ${index + 1}: not valid JSON`, { cause: error });
    }
    if (!isRow(value)) throw new Error(`${path}, line ${index + 1}: not ${name}`);
    rows.push(value);
  }
  return rows;
}
