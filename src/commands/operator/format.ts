type Cell = string | number | null;

/** Formats rows as aligned columns, with a dash for null. */
export function formatColumns(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [
    header,
    ...rows.map((row) => row.map((cell) => replaceControlCharacters(cell === null ? "-" : String(cell)))),
  ];
  const widths = header.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  const text = lines.map((line) =>
    line
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${text.join("\n")}\n`;
}

/** Replaces control characters, so that texts of users and venues cannot inject terminal escape sequences. */
export const replaceControlCharacters = (text: string) => text.replace(/\p{C}/gu, "?");
