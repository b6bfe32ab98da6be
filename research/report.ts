/** Sections of a report, for the terminal, Markdown and HTML. */
import type { ConfidenceInterval } from "../src/quant/clustered-ratio.ts";

export interface ReportSection {
  readonly title: string;
  readonly text: readonly string[];
  /** Empty for a section without a table. */
  readonly header: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** Formats a number with fixed decimals; a dash for null. */
export const formatNumber = (value: number | null | undefined, decimals = 3): string => value?.toFixed(decimals) ?? "–";

export const formatInterval = (value: ConfidenceInterval | null, decimals: number): string =>
  value === null ? "–" : `${formatNumber(value.low, decimals)} to ${formatNumber(value.high, decimals)}`;

export function markdownTable(header: ReportSection["header"], rows: ReportSection["rows"]): string {
  const line = (cells: ReportSection["rows"][number]) => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}

/** @param heading  Markdown prefix of the headings, such as "##" */
export const toMarkdown = (sections: readonly ReportSection[], heading: string): string =>
  sections
    .map(({ title, text, header, rows }) =>
      [`${heading} ${title}`, ...text, ...(header.length === 0 ? [] : [markdownTable(header, rows)])].join("\n\n"),
    )
    .join("\n\n");
