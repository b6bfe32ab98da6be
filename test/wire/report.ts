/** The report of a run: a table of the files and the details of everything that is wrong. */
import { type FileResult, isFailed } from "./check-folder.ts";
import type { Difference } from "./findings.ts";

const HEADERS = ["file", "rows", "parsed", "dropped", "wrong"] as const;
const NO_DROPS = "-";

/** @param detailsMax  differences shown per file */
export function formatReport(results: readonly FileResult[], detailsMax: number): string {
  const failed = results.filter(isFailed);
  const details = failed.map((result) => formatDetails(result, detailsMax));
  const summary =
    failed.length === 0
      ? `${results.length} files checked, nothing is wrong.`
      : `${failed.length} of ${results.length} files are wrong or not readable.`;
  return [formatTable(results), ...details, summary].join("\n\n");
}

function formatTable(results: readonly FileResult[]): string {
  const sum = (field: "rows" | "parsed" | "wrong") => results.reduce((total, result) => total + result[field], 0);
  const rows = results.map((result) => [
    result.file,
    String(result.rows),
    String(result.parsed),
    formatDrops(result),
    result.problem === null ? String(result.wrong) : "not readable",
  ]);
  rows.push(["total", String(sum("rows")), String(sum("parsed")), "", String(sum("wrong"))]);
  const widths = HEADERS.map((header, column) =>
    Math.max(header.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const format = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        isNumberColumn(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join(" | ")
      .trimEnd();
  const line = widths.map((width) => "-".repeat(width)).join("-|-");
  return [format(HEADERS), line, ...rows.map(format)].join("\n");
}

const isNumberColumn = (column: number): boolean => column === 1 || column === 2;

function formatDrops({ dropped }: FileResult): string {
  const reasons = Object.entries(dropped).sort(([a], [b]) => a.localeCompare(b));
  return reasons.length === 0 ? NO_DROPS : reasons.map(([reason, count]) => `${reason} ${count}`).join(", ");
}

function formatDetails({ file, problem, differences }: FileResult, detailsMax: number): string {
  const lines = [`${file}:`];
  if (problem !== null) lines.push(`  ${problem}`);
  const merged = mergeMethods(differences);
  const counts = new Map<string, number>();
  for (const { field } of merged) counts.set(field || "row", (counts.get(field || "row") ?? 0) + 1);
  if (counts.size > 0) {
    lines.push(`  wrong by field: ${[...counts].map(([field, count]) => `${field} ${count}`).join(", ")}`);
  }
  for (const difference of selectExamples(merged, detailsMax)) lines.push(...formatDifference(difference));
  const hidden = merged.length - Math.min(detailsMax, merged.length);
  if (hidden > 0) lines.push(`  … and ${hidden} more (--details ${merged.length} shows all)`);
  return lines.join("\n");
}

/** Joins equal differences of several methods, because most are wrong in each method that reads the row. */
function mergeMethods(differences: readonly Difference[]): Difference[] {
  const merged = new Map<string, Difference>();
  for (const difference of differences) {
    const { row, field, expected, actual } = difference;
    const key = JSON.stringify([row, field, expected, actual]);
    const other = merged.get(key);
    const method = other === undefined ? difference.method : `${other.method}, ${difference.method}`;
    merged.set(key, { ...difference, method });
  }
  return [...merged.values()];
}

/** Selects examples of every field before more of the same field. */
function selectExamples(differences: readonly Difference[], max: number): Difference[] {
  const byField = new Map<string, Difference[]>();
  for (const difference of differences) {
    const group = byField.get(difference.field);
    if (group === undefined) byField.set(difference.field, [difference]);
    else group.push(difference);
  }
  const examples: Difference[] = [];
  for (let round = 0; examples.length < Math.min(max, differences.length); round++) {
    for (const group of byField.values()) {
      const next = group[round];
      if (next !== undefined && examples.length < max) examples.push(next);
    }
  }
  return examples;
}

function formatDifference({ row, method, field, expected, actual, excerpt }: Difference): string[] {
  const name = field === "" ? "" : ` ${field}`;
  return [
    `  - ${row} (${method})${name}: expected ${expected}, got ${actual}`,
    ...(excerpt === "" ? [] : [`    raw: ${excerpt}`]),
  ];
}
