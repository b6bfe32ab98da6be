import type { ListedEvent } from "../../world/types.ts";
import { deriveNumericId } from "./ids.ts";

export interface Tag {
  readonly id: string;
  readonly label: string;
  readonly slug: string;
}

function slugOfLabel(label: string): string {
  return label.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}

function tagOf(label: string): Tag {
  const slug = slugOfLabel(label);
  return { id: String(deriveNumericId(`tag:${slug}`)), label, slug };
}

/** The tags of the event and its category. */
export function tagsOf(event: ListedEvent): Tag[] {
  const bySlug = new Map([...event.tags, event.category].map((label) => [slugOfLabel(label), tagOf(label)]));
  return [...bySlug.values()];
}

const RECURRENCE_BY_FREQUENCY: Readonly<Record<ListedEvent["frequency"], string>> = {
  fifteen_min: "15m",
  hourly: "hourly",
  daily: "daily",
  weekly: "weekly",
  monthly: "monthly",
  annual: "annual",
  one_off: "",
};

export function recurrenceOf(event: ListedEvent): string {
  return RECURRENCE_BY_FREQUENCY[event.frequency];
}

export function seriesIdOf(event: ListedEvent): string {
  return String(deriveNumericId(`series:${event.series}`));
}

/** The series of an event, as included in event objects. */
export function presentSeries(event: ListedEvent) {
  const slug = event.series.toLowerCase();
  return {
    id: seriesIdOf(event),
    ticker: slug,
    slug,
    title: event.seriesTitle,
    seriesType: "single",
    recurrence: recurrenceOf(event),
    active: true,
    closed: false,
    archived: false,
  };
}
