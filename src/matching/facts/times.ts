/** Times of day that a title names ("8:00 PM UTC", "5pm EDT"). */

/** Minutes that a zone is behind UTC. "ET" is "EDT" from 11 March to 31 October, else "EST". */
const ZONE_MINUTES: Readonly<Record<string, number>> = { utc: 0, gmt: 0, est: 300, edt: 240, cet: -60, cest: -120 };
const DAY_MINUTES = 1_440;
const TIME_PATTERN =
  /(?:\bat )?\b(?:([01]?[0-9]|2[0-3]):([0-5][0-9])(?: ?(am|pm))?|([1-9]|1[0-2]) ?(am|pm))\b(?: ?(utc|gmt|est|edt|et|cet|cest)\b)?/g;

export interface TimeOfDay {
  /**
   * Minutes after 00:00 UTC of the day that the text means, from -120 to 1739. Without a zone: minutes after local
   * midnight.
   */
  readonly minutes: number;
  readonly hasZone: boolean;
}

export interface TimeText {
  readonly times: readonly TimeOfDay[];
  /** The text without the times. */
  readonly rest: string;
}

/**
 * Finds the times of day of a normalised text.
 *
 * @param near  when the market closes, Unix milliseconds; decides whether "ET" is summer time. Null stands for winter.
 */
export function findTimes(text: string, near: number | null): TimeText {
  const times: TimeOfDay[] = [];
  const rest = text.replace(TIME_PATTERN, (_match: string, ...args: (string | undefined)[]) => {
    const [hour, minute, half, bareHour, bareHalf, zone] = args;
    const suffix = half ?? bareHalf;
    const clockHour = Number(hour ?? bareHour);
    const hour24 = suffix === undefined ? clockHour : (clockHour % 12) + (suffix === "pm" ? 12 : 0);
    const name = zone === "et" ? easternZone(near) : zone;
    const offset = name === undefined ? undefined : ZONE_MINUTES[name];
    times.push({ minutes: 60 * hour24 + Number(minute ?? 0) + (offset ?? 0), hasZone: offset !== undefined });
    return " ";
  });
  return { times, rest: rest.replace(/\s+/g, " ").trim() };
}

/** Returns a time as "20:00utc", or as "20:00" if its zone is unknown. */
export function describeTime({ minutes, hasZone }: TimeOfDay): string {
  const total = (minutes + DAY_MINUTES) % DAY_MINUTES;
  const pad = (value: number) => String(value).padStart(2, "0");
  return `${pad(Math.floor(total / 60))}:${pad(total % 60)}${hasZone ? "utc" : ""}`;
}

function easternZone(near: number | null): "est" | "edt" {
  if (near === null) return "est";
  const date = new Date(near);
  const month = date.getUTCMonth();
  const isSummer = (month > 2 && month < 10) || (month === 2 && date.getUTCDate() > 10);
  return isSummer ? "edt" : "est";
}
