import type { Verification } from "../../capabilities/strategy/track-record/index.ts";
import { type CommandResult, type OperatorCommand, parseCommand, type Subcommand } from "../operator/command.ts";

const USAGE = `Check the track record of the signals.

  npx parallax track-record <command> [options]

  verify   compute the shadow book again from its trades, prices and settlements, up to the current day, and compare it with
           what is stored and published

  --json   print JSON
  --help   print this help

The command reads the configured database: DATABASE_URL, or the embedded database in PARALLAX_DATA_DIR. It changes nothing.

Exit codes: 0 the book is right; 1 it is wrong, or the command failed; 2 invalid usage.
`;

export interface TrackRecordContext {
  verify(): Promise<Verification>;
}

/** Parses the arguments after `track-record`. Returns a result for `--help` and for invalid usage (exit code 2). */
export function parseTrackRecordCommand(argv: readonly string[]): CommandResult | OperatorCommand<TrackRecordContext> {
  return parseCommand({ name: "track-record", usage: USAGE, options: {}, subcommands: SUBCOMMANDS }, argv);
}

const SUBCOMMANDS: Readonly<Record<string, Subcommand<TrackRecordContext, Record<string, never>>>> = {
  verify: {
    argumentCount: [0, 0],
    options: [],
    parse: () => async (context) => {
      const verification = await context.verify();
      return {
        json: present(verification),
        text: describe(verification),
        hasFailed: verification.mismatchCount > 0,
      };
    },
  },
};

const present = ({ trades, days, openDays, pnlUsd, mismatchCount, mismatches }: Verification) => ({
  trades,
  days,
  open_days: openDays.map(({ date, pnlUsd: pnl }) => ({ date, pnl_usd: pnl })),
  pnl_usd: pnlUsd,
  mismatch_count: mismatchCount,
  mismatches,
});

function describe({ trades, days, openDays, pnlUsd, mismatchCount, mismatches }: Verification): string {
  const open = openDays.map((day) => `, open day ${day.date} with ${day.pnlUsd.toFixed(2)} USD`).join("");
  const totals = `${trades} trades, ${days} closed days${open}, profit ${pnlUsd.toFixed(2)} USD.`;
  if (mismatchCount === 0) return `The stored book equals the recomputed one: ${totals}\n`;
  const lines = mismatches.map(({ id, stored, computed }) => `  ${id}: stored ${stored}, recomputed ${computed}`);
  return `${mismatchCount} differences between the stored and the recomputed book: ${totals}\n${lines.join("\n")}\n`;
}
