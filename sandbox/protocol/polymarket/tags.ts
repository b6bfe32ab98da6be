import type { ListedEvent } from "../../world/types.ts";
import { deriveNumericId } from "./ids.ts";

export interface Tag {
  readonly id: string;
  readonly label: string;
  readonly slug: string;
}

const slugOfLabel = (label: string): string => label.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");

function tagOf(label: string): Tag {
  const slug = slugOfLabel(label);
  return { id: String(deriveNumericId(`tag:${slug}`)), label, slug };
}

/** The tags of the event and its category. */
export function tagsOf(event: ListedEvent): Tag[] {
  const bySlug = new Map([...event.tags, event.category].map((label) => [slugOfLabel(label), tagOf(label)]));
  return [...bySlug.values()];
}
