import { DECISIONS_MAX, type MatchDecision, type MatchRequest } from "../../capabilities/markets/matching/index.ts";
import { isObject } from "../../lib/is-object.ts";

/** Maximum number of invalid lines that an error names. */
const FAULTS_SHOWN_MAX = 20;
const FIELDS: readonly string[] = ["market_a", "market_b", "decision", "note"];
/** One cell with the comma after it or the end of the line: quoted, with doubled quotes inside, or plain. */
const CELL_PATTERN = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;

/** Default values for lines that omit them. */
export interface PairDefaults {
  readonly decision: MatchDecision["decision"];
  readonly note: string | null;
  readonly decidedBy: string;
}

/**
 * Parses pairs of markets, one for each line. Lines are JSON objects with the fields `market_a`, `market_b`, `decision`
 * and `note`, or comma-separated values: two markets, then a decision and a note if the header names them, which is
 * required for more than two columns. Empty lines are skipped.
 *
 * @param check  throws RangeError for a pair that cannot be stored, else returns a key that is equal for equal pairs
 * @throws RangeError that names the number of each invalid line, up to 20
 */
export function parsePairFile(
  text: string,
  defaults: PairDefaults,
  check: (request: MatchRequest) => string,
): MatchRequest[] {
  const lines = text
    .split(/\r?\n/)
    .map((line, index) => ({ text: line.trim(), number: index + 1 }))
    .filter((line) => line.text !== "");
  const isJson = lines[0]?.text.startsWith("{") === true;
  const header = isJson ? null : takeHeader(lines);
  if (lines.length === 0) throw new RangeError("The file has no pairs.");
  if (lines.length > DECISIONS_MAX) throw new RangeError(`The file has more than ${DECISIONS_MAX} pairs: split it.`);
  const requests: MatchRequest[] = [];
  const faults: string[] = [];
  const lineOfPair = new Map<string, number>();
  for (const line of lines) {
    try {
      const fields = isJson ? parseJsonLine(line.text) : parseCsvLine(line.text, header ?? ["market_a", "market_b"]);
      const request = toRequest(fields, defaults);
      const pair = check(request);
      const earlier = lineOfPair.get(pair);
      if (earlier !== undefined) throw new RangeError(`The pair of line ${earlier} is repeated.`);
      lineOfPair.set(pair, line.number);
      requests.push(request);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      faults.push(`Line ${line.number}: ${error.message}`);
    }
  }
  if (faults.length === 0) return requests;
  const more = faults.length > FAULTS_SHOWN_MAX ? [`${faults.length - FAULTS_SHOWN_MAX} more lines are invalid.`] : [];
  throw new RangeError(["Nothing was stored.", ...faults.slice(0, FAULTS_SHOWN_MAX), ...more].join("\n"));
}

/** Removes the header and returns its names; null if the first line is a pair, whose first cell is a market. */
function takeHeader(lines: { readonly text: string; readonly number: number }[]): readonly string[] | null {
  const [first] = lines;
  if (first === undefined || splitCells(first.text)[0]?.includes("/") !== false) return null;
  lines.shift();
  const names = splitCells(first.text);
  const isValid = names.every((name) => FIELDS.includes(name)) && new Set(names).size === names.length;
  if (isValid && names.includes("market_a") && names.includes("market_b")) return names;
  throw new RangeError(
    `Line ${first.number}: a header has the columns market_a and market_b, and optionally decision and note.`,
  );
}

function parseCsvLine(line: string, names: readonly string[]): Map<string, unknown> {
  const cells = splitCells(line);
  if (cells.length !== names.length)
    throw new RangeError(`The line has ${cells.length} values, but the columns are ${names.join(", ")}.`);
  return new Map(names.map((name, index) => [name, cells[index] || null]));
}

function splitCells(line: string): string[] {
  const cells: string[] = [];
  for (let position = 0; ; position = CELL_PATTERN.lastIndex) {
    CELL_PATTERN.lastIndex = position;
    const match = CELL_PATTERN.exec(line);
    if (match === null) throw new RangeError("The quotes of the line are not valid.");
    cells.push(match[1]?.replaceAll('""', '"') ?? (match[2] ?? "").trim());
    if (match[3] === "") return cells;
  }
}

function parseJsonLine(line: string): Map<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new RangeError("The line is not valid JSON.");
  }
  if (!isObject(value)) throw new RangeError("The line is not a JSON object.");
  const fields = new Map<string, unknown>(Object.entries(value));
  for (const name of fields.keys())
    if (!FIELDS.includes(name)) throw new RangeError(`There is no field ${name}: use ${FIELDS.join(", ")}.`);
  return fields;
}

function toRequest(fields: ReadonlyMap<string, unknown>, defaults: PairDefaults): MatchRequest {
  const text = (name: string) => {
    const value = fields.get(name) ?? null;
    if (value !== null && typeof value !== "string") throw new RangeError(`${name}: must be a text.`);
    return value;
  };
  const market = (name: string) => {
    const value = text(name);
    if (value === null) throw new RangeError(`${name}: is missing.`);
    return value;
  };
  return {
    markets: [market("market_a"), market("market_b")],
    decision: parseDecision(text("decision"), defaults.decision),
    note: text("note") ?? defaults.note,
    decidedBy: defaults.decidedBy,
  };
}

/** `pin` stores identical and inverse pairs, `forbid` only forbidden ones. */
function parseDecision(text: string | null, usual: MatchDecision["decision"]): MatchDecision["decision"] {
  if (text === null) return usual;
  if (usual === "forbidden") {
    if (text === "forbidden") return text;
    throw new RangeError(`decision ${text}: must be forbidden.`);
  }
  if (text === "identical" || text === "inverse") return text;
  throw new RangeError(`decision ${text}: must be identical or inverse.`);
}
