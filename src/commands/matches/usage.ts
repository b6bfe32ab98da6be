import { DECISIONS_MAX, NOTE_LENGTH_MAX } from "../../capabilities/markets/matching/index.ts";

/** Maximum number of pairs that `list` shows. */
export const LIST_PAIRS_MAX = 1_000;

export const MATCHES_USAGE = `Show which markets match across venues, and decide about pairs of them.

  npx parallax matches <command> [options]

  list [--market ID] [--limit N]               show your decisions, and the pairs of a running service with their evidence
  pin A B [--inverse] [--note TEXT]            decide that A and B ask the same question, or opposite ones with --inverse
  forbid A B [--note TEXT]                     decide that A and B do not match
  pin --file FILE [--inverse] [--note TEXT]    decide about all pairs of a file, or about none if a line is invalid
  forbid --file FILE [--note TEXT]             the same
  clear A B                                    delete a decision, so that the service decides

  A, B, ID   a market, as platform/market_id; A and B are of different venues and may be unlisted at present
  FILE       UTF-8, at most 2 MiB and ${DECISIONS_MAX} pairs, one a line: A,B or JSON, {"market_a":"A","market_b":"B"}. A CSV
             header market_a,market_b,decision,note adds columns; JSON has the same fields. decision is identical or
             inverse (forbid: forbidden). Lines without decision or note get those of the command line
  --limit    number of pairs, 1 to ${LIST_PAIRS_MAX}
  --note     why you decided, at most ${NOTE_LENGTH_MAX} characters
  --json     print JSON
  --help     print this help

Decisions are stored in the configured database: DATABASE_URL, or the embedded database in PARALLAX_DATA_DIR. They outlive
restarts, replace each other, and take effect on every running service within seconds.

Exit codes: 0 success; 1 failure, with the reason on standard error; 2 invalid usage.
`;
