/** Returns the ids without those that are null or absent. */
export function withoutUnknown(ids: Readonly<Record<string, string | null | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(ids).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
