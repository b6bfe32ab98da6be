import { listOf, textOf } from "./parse-values.ts";
import { isGammaTag } from "./wire.ts";

/**
 * Category by tag, in order of precedence. The venue's tags have no order, and specific tags come first here because,
 * for example, a Bitcoin question is often tagged "finance" too.
 */
const CATEGORY_BY_TAG: ReadonlyMap<string, string> = new Map([
  ["crypto", "Crypto"],
  ["weather", "Weather"],
  ["climate", "Weather"],
  ["climate-weather", "Weather"],
  ["sports", "Sports"],
  ["esports", "Sports"],
  ["economy", "Economics"],
  ["economics", "Economics"],
  ["politics", "Politics"],
  ["elections", "Politics"],
  ["geopolitics", "Politics"],
  ["tech", "Tech"],
  ["ai", "Tech"],
  ["science", "Tech"],
  ["culture", "Culture"],
  ["pop-culture", "Culture"],
  ["finance", "Economics"],
  ["business", "Economics"],
  ["world", "Politics"],
]);

/** Returns the category from the tags, or the label of old rows if no tag matches, or null. */
export function categoryOf(tags: unknown, oldLabel: unknown): string | null {
  const slugs = new Set(
    (listOf(tags) ?? [])
      .filter(isGammaTag)
      .map((tag) => tag.slug ?? tag.label.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")),
  );
  for (const [slug, category] of CATEGORY_BY_TAG) if (slugs.has(slug)) return category;
  return textOf(oldLabel);
}
