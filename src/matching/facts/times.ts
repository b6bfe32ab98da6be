import type { CivilDate } from "../../lib/dates/civil-date.ts";
import { zonedInstant } from "../../lib/dates/zoned-time.ts";
import { DAY_MS } from "../../lib/durations.ts";
import type { PlacedClockTime } from "../../text/clock-times.ts";

const DAY_MINUTES = 1_440;
/** Day that decides daylight saving time for a time without a known day: 1 January 2026. */
const WINTER_DAY: CivilDate = 20_454;

export interface TimeOfDay {
  /** Minutes after 00:00 UTC of the stated day, from -540 to 2040. Without a zone: after local midnight. */
  readonly minutes: number;
  readonly hasZone: boolean;
}

/** Converts a time of day to UTC. `day` decides daylight saving time; null means a day in winter. */
export function toTimeOfDay(
  { minutes, zone }: Pick<PlacedClockTime, "minutes" | "zone">,
  day: CivilDate | null,
): TimeOfDay {
  if (zone === null) return { minutes, hasZone: false };
  const on = day ?? WINTER_DAY;
  return { minutes: (zonedInstant(on, minutes, zone) - on * DAY_MS) / 60_000, hasZone: true };
}

/** Returns a time as "20:00utc", or as "20:00" if its zone is unknown. */
export function describeTime({ minutes, hasZone }: TimeOfDay): string {
  const total = (minutes + DAY_MINUTES) % DAY_MINUTES;
  const pad = (value: number) => String(value).padStart(2, "0");
  return `${pad(Math.floor(total / 60))}:${pad(total % 60)}${hasZone ? "utc" : ""}`;
}
