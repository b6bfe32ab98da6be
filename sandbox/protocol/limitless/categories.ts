import type { ListedEvent } from "../../world/types.ts";

/** Categories of the venue. A 15-minute round has the category "15 min" and the category of its topic. */
export const CATEGORIES: readonly string[] = [
  "Crypto",
  "Politics",
  "Economics",
  "Sports",
  "Weather",
  "Culture",
  "Tech",
  "Other",
  "15 min",
];

/** Category names of an event as the venue sends them. */
export function categoryNamesOf(event: ListedEvent): string[] {
  if (event.recorded !== undefined) return event.category === "" ? [] : [event.category];
  const topic = CATEGORIES.includes(event.category) ? event.category : "Other";
  return event.isRound ? ["15 min", topic] : [topic];
}
