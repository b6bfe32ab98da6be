import type { ListedEvent } from "../../world/types.ts";

/** Categories of the venue. A 15-minute round has the category "15 min" and the category of its topic. */
export const CATEGORIES: readonly { readonly id: number; readonly name: string }[] = [
  { id: 2, name: "Crypto" },
  { id: 5, name: "Politics" },
  { id: 19, name: "Economics" },
  { id: 23, name: "Sports" },
  { id: 30, name: "Weather" },
  { id: 42, name: "Culture" },
  { id: 43, name: "Tech" },
  { id: 49, name: "Other" },
  { id: 50, name: "15 min" },
];

/** Category names of an event as the venue sends them. */
export function categoryNamesOf(event: ListedEvent): string[] {
  if (event.recorded !== undefined) return event.category === "" ? [] : [event.category];
  const topic = CATEGORIES.some((category) => category.name === event.category) ? event.category : "Other";
  return event.frequency === "fifteen_min" ? ["15 min", topic] : [topic];
}

export function categoryIdsOf(event: ListedEvent): number[] {
  const names = categoryNamesOf(event);
  return CATEGORIES.filter((category) => names.includes(category.name)).map((category) => category.id);
}
