import type { BenchRow } from "./scenario.ts";
import type { Spread } from "./statistics.ts";

/** Formats a number with at least three significant digits and grouped thousands; the figures are not more precise. */
export function formatNumber(value: number): string {
  const rounded = Number(value.toPrecision(Math.abs(value) >= 1_000 ? 4 : 3));
  return rounded.toLocaleString("en-US", { maximumFractionDigits: 6 });
}

const formatSpread = ({ count, min, median, max }: Spread) =>
  count === 1 ? formatNumber(median) : [min, median, max].map(formatNumber).join(" / ");
const formatPercent = (ratio: Spread) =>
  `${[ratio.min, ratio.median, ratio.max].map((value) => `${formatNumber(value * 100)}%`).join(" / ")}`;

function formatTarget({ target, isMet, unit }: BenchRow): string {
  if (target === null) return "";
  const sign = target.bound === "at_least" ? "≥" : "≤";
  const value = target.of === "ratio" ? `${formatNumber(target.value * 100)}% of baseline` : formatNumber(target.value);
  const unitText = target.of === "ratio" ? "" : ` ${unit}`;
  return `${isMet === true ? "met" : "MISSED"}: ${sign} ${value}${unitText}${target.of === "worst" ? " always" : ""}`;
}

/** Formats rows as lines for a terminal. Spreads are min / median / max over the rounds. */
export function formatRows(rows: readonly BenchRow[]): string {
  const cells = [
    ["figure", "unit", "ours", "baseline", "ours : baseline", "target"],
    ...rows.map((row) => [
      row.figure,
      row.unit,
      formatSpread(row.value),
      row.baseline === null ? "" : `${formatSpread(row.baseline.value)} (${row.baseline.name})`,
      row.ratio === null ? "" : formatPercent(row.ratio),
      formatTarget(row),
    ]),
  ];
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const separator = widths.map((width) => "-".repeat(width)).join("  ");
  const notes = rows.filter((row) => row.note !== "").map((row) => `  ${row.figure}: ${row.note}`);
  return [lines[0], separator, ...lines.slice(1), ...notes].join("\n");
}
