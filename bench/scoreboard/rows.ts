import type { ScoreboardRow } from "./row.ts";
import { acknowledgedReportsRow } from "./rows/kills.ts";

/** All rows, in the order of the scoreboard. */
export const SCOREBOARD_ROWS: readonly ScoreboardRow[] = [acknowledgedReportsRow];
