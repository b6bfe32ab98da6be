import { listOf, textOf } from "./parse-values.ts";
import { isGammaTag } from "./wire.ts";

/**
 * The venue tags events with dozens of labels in no order; these say what field a question belongs to, the narrower ones
 * first, because a bitcoin question is often tagged Finance as well.
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

/** The field of a question from its tags, else the label that old rows carry, else null. */
export function categoryOf(tags: unknown, oldLabel: unknown): string | null {
  const slugs = new Set(
    (listOf(tags) ?? [])
      .filter(isGammaTag)
      .map((tag) => tag.slug ?? tag.label.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")),
  );
  for (const [slug, category] of CATEGORY_BY_TAG) if (slugs.has(slug)) return category;
  return textOf(oldLabel);
}
