/** A number with fixed decimals; a dash if it is null. */
export const format = (value: number | null, decimals = 3): string => (value === null ? "–" : value.toFixed(decimals));

export function table(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}
