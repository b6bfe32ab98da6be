/** The reasons for which data may be left out: the table in README.md. */
import { readFile } from "node:fs/promises";

const README = new URL("README.md", import.meta.url);
const ROW_PATTERN = /^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|$/gm;

/** Reasons by venue. A reason of "all" venues is in every set. */
export type DocumentedDrops = (venue: string) => ReadonlySet<string>;

export async function readDocumentedDrops(): Promise<DocumentedDrops> {
  const rows = [...(await readFile(README, "utf8")).matchAll(ROW_PATTERN)].map(([, reason = "", venues = ""]) => ({
    reason,
    venues: venues.split(",").map((venue) => venue.trim()),
  }));
  return (venue) =>
    new Set(rows.filter(({ venues }) => venues.includes(venue) || venues.includes("all")).map(({ reason }) => reason));
}
