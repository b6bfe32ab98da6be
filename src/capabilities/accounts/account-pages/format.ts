import { SHORT_MONTH_NAMES } from "../../../lib/dates/month-names.ts";

/** @example formatDay(new Date(0)) // "1970-01-01" */
export const formatDay = (date: Date): string => date.toISOString().slice(0, 10);

/** @example formatSecond(new Date(0)) // "1970-01-01 00:00:00" */
export const formatSecond = (date: Date): string => date.toISOString().slice(0, 19).replace("T", " ");

/** @example formatShortDay("2026-11-05") // "Nov 5" */
export const formatShortDay = (day: string): string =>
  `${SHORT_MONTH_NAMES[Number(day.slice(5, 7)) - 1] ?? ""} ${Number(day.slice(8, 10))}`;
