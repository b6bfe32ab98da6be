import { systemClock } from "../../adapters/system/system-clock.ts";
import { createMatchDecisions, MATCHES_TOPIC } from "../../capabilities/markets/matching/index.ts";
import type { OperatorProgram } from "../operator/run.ts";
import { type MatchesContext, parseMatchesCommand } from "./commands.ts";

/** `parallax matches`. Without a running service there are decisions but no pairs. */
export const MATCHES_PROGRAM: OperatorProgram<MatchesContext> = {
  parse: parseMatchesCommand,
  open: (database, config, publish) => ({
    decisions: createMatchDecisions({
      database,
      clock: systemClock,
      venues: config.venues.map(({ id }) => id),
      onChanged: () => publish(MATCHES_TOPIC),
    }),
  }),
};
