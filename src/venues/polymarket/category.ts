import { listOf, textOf } from "./parse-values.ts";
import { isGammaTag } from "./wire.ts";

/**
 * Tags that name a topic, in order of precedence. The venue's tags have no order, and specific tags come first here
 * because, for example, a Bitcoin question is often tagged "finance" too. `domain/category.ts` maps them to our
 * categories.
 */
const TOPIC_TAGS = [
  ...["crypto", "weather", "climate", "climate-weather", "sports", "esports", "economy", "economics"],
  ...["politics", "elections", "geopolitics", "tech", "ai", "science", "culture", "pop-culture", "finance", "business"],
  "world",
] as const;

/** Returns the label of the tag that names the topic, or the label of old rows if no tag does, or null. */
export function categoryOf(tags: unknown, oldLabel: unknown): string | null {
  const labels = new Map(
    (listOf(tags) ?? [])
      .filter(isGammaTag)
      .map((tag) => [tag.slug ?? tag.label.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"), textOf(tag.label)]),
  );
  for (const slug of TOPIC_TAGS) {
    const label = labels.get(slug);
    if (label !== undefined && label !== null) return label;
  }
  return textOf(oldLabel);
}
