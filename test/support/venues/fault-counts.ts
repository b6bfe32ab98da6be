import { FAULT_NAMES, type FaultName } from "../../../sandbox/faults/switches.ts";
import { SANDBOX_VENUES, type SandboxVenue } from "../../../sandbox/world/types.ts";

/**
 * How health accounts for what a switch has spoilt:
 * - `each`: every spoilt answer is counted once, under one of the reasons.
 * - `at_most`: it is counted, never more often than it happened; what meets a connection that ends anyway is not.
 * - `some`: it is counted, and one spoilt thing may count several times or not at all (a price nobody reads).
 * - `none`: it need not be counted; `why` says why that is no fault of the service. Reasons are those that may tell of it.
 */
export interface FaultCount {
  readonly relation: "each" | "at_most" | "some" | "none";
  readonly reasons: readonly string[];
  readonly why: string;
}

/**
 * With every switch on, what one spoils is spoilt by others as well: a crossed book is emptied, a page waits for a client
 * that has gone, a message stands behind the one that ended its connection. Where health counts `some` and the sandbox
 * every object, silence is a fault from so many on. Below, the contract test alone shows it, where one switch is on.
 */
const CERTAIN_FROM: Partial<Record<FaultName, number>> = {
  half_page: 20,
  crossed_book: 500,
  price_out_of_range: 500,
  clock_skew: 500,
  socket_out_of_order: 20,
  socket_gap: 20,
  socket_duplicate: 100,
};

const each = (reason: string): FaultCount => ({ relation: "each", reasons: [reason], why: "an attempt that failed" });
const none = (why: string, ...reasons: readonly string[]): FaultCount => ({ relation: "none", reasons, why });
const unlessSequenced = (why: string, kalshi: FaultCount, ...reasons: readonly string[]) =>
  everywhere(none(why, ...reasons), { kalshi });
const everywhere = (
  account: FaultCount,
  others: Partial<Record<SandboxVenue, FaultCount>> = {},
): Readonly<Record<SandboxVenue, FaultCount>> => ({
  kalshi: account,
  polymarket: account,
  limitless: account,
  manifold: account,
  ...others,
});

const UNREADABLE = "a message that cannot be read";
const DUPLICATE: FaultCount = {
  relation: "at_most",
  reasons: ["sequence_gap"],
  why: "trades and what happens to markets are numbered",
};
const SEQUENCE: FaultCount = {
  relation: "some",
  reasons: ["sequence_gap", "message_not_subscribed", "stream_error_6"],
  why: "trades and what happens to markets are numbered, quotes are not; after a lost confirmation nothing is of a known subscription",
};

/** Which reasons in health answer for which switch, venue by venue. */
export const FAULT_COUNTS: Readonly<Record<FaultName, Readonly<Record<SandboxVenue, FaultCount>>>> = {
  latency: everywhere(none("the answer is whole and is used")),
  rate_limit: everywhere(each("attempt_rate_limited")),
  rate_limit_seconds: everywhere(each("attempt_rate_limited")),
  rate_limit_date: everywhere(each("attempt_rate_limited")),
  rate_limit_absurd: everywhere(each("attempt_rate_limited")),
  server_error: everywhere(each("attempt_server_error")),
  cut_body: everywhere(each("attempt_bad_body")),
  cut_socket: everywhere(each("attempt_network")),
  garbage: everywhere(each("attempt_bad_body")),
  half_page: everywhere({
    relation: "some",
    reasons: ["page_rows_repeated", "page_loop", "page_short", "page_empty", "sweep_shrunk"],
    why: "rows told twice, cursors that come again and ends before the venue's own total; half a page without any of it looks like a shorter list, which two sweeps and a read by name put right",
  }),
  crossed_book: everywhere(
    {
      relation: "some",
      reasons: ["crossed_book", "book_mismatch"],
      why: "a book that is read; a candle's is one, too",
    },
    { manifold: none("it has no books") },
  ),
  empty_book: everywhere(none("a lie without a trace: markets without orders are usual; the next sweep tells better")),
  price_out_of_range: everywhere({
    relation: "some",
    reasons: ["price_out_of_range", "bad_row", "bad_trade", "bad_history_point", "book_mismatch"],
    why: "one object has several prices, of which some are read; a price that is told in per cent may still lie in [0, 1]",
  }),
  clock_skew: everywhere({
    relation: "some",
    reasons: ["time_ahead", "stream_time_ahead", "out_of_order", "stream_frame_overtaken"],
    why: "times on the stream, where they decide what is newer; those of answers decide nothing",
  }),
  frozen: everywhere({
    relation: "some",
    reasons: ["attempt_timeout", "stream_connection_lost"],
    why: "what hangs is given up after a while, unless the venue thaws before; sockets that are being opened hang as well",
  }),
  socket_duplicate: unlessSequenced("told again, it changes nothing", DUPLICATE),
  socket_out_of_order: unlessSequenced(
    "only a message about the same market shows it, and then only where its time is earlier",
    SEQUENCE,
    "out_of_order",
    "stream_frame_overtaken",
    "book_mismatch",
  ),
  socket_gap: unlessSequenced("a lie without a trace where nothing is numbered", SEQUENCE, "book_mismatch"),
  socket_garbage: everywhere(
    { relation: "at_most", reasons: ["bad_message"], why: UNREADABLE },
    {
      polymarket: { relation: "at_most", reasons: ["bad_frame"], why: UNREADABLE },
      limitless: { relation: "at_most", reasons: ["stream_connection_lost"], why: "Socket.IO ends the connection" },
    },
  ),
  socket_drop: everywhere({
    relation: "at_most",
    reasons: ["stream_connection_lost"],
    why: "a connection that the venue ends, also before it was of any use",
  }),
  socket_frozen: everywhere({
    relation: "some",
    reasons: ["stream_silent", "stream_frozen", "stream_connection_lost"],
    why: "silence is noticed when it lasts longer than is usual, by us or by the protocol's own heartbeat",
  }),
};

export interface FaultCountRow {
  readonly venue: SandboxVenue;
  readonly fault: FaultName;
  /** What the sandbox says it spoilt. */
  readonly spoilt: number;
  /** What health counted, by those reasons that answer for the switch. */
  readonly counted: Readonly<Record<string, number>>;
  readonly relation: FaultCount["relation"];
  /** It happened and was to be counted, and nothing was. */
  readonly isUnaccounted: boolean;
}

type Counts = Readonly<Record<string, number>>;

/**
 * Every switch that fired beside what health counted for it. Switches that are on together share reasons: then a row
 * says only that none of them was passed over in silence.
 */
export function countFaults(
  happened: Readonly<Record<string, Counts>>,
  drops: Readonly<Record<string, Counts>>,
): FaultCountRow[] {
  return SANDBOX_VENUES.flatMap((venue) =>
    FAULT_NAMES.flatMap((fault) => {
      const spoilt = happened[venue]?.[fault] ?? 0;
      if (spoilt === 0) return [];
      const { relation, reasons } = FAULT_COUNTS[fault][venue];
      const counted = Object.fromEntries(
        reasons.flatMap((reason) => {
          const count = drops[venue]?.[reason] ?? 0;
          return count === 0 ? [] : [[reason, count]];
        }),
      );
      const isCertain = relation !== "none" && spoilt >= (CERTAIN_FROM[fault] ?? 1);
      const isUnaccounted = isCertain && Object.keys(counted).length === 0;
      return [{ venue, fault, spoilt, counted, relation, isUnaccounted }];
    }),
  );
}

/** The rows as text, a line each. */
export function faultCountTable(rows: readonly FaultCountRow[]): string {
  const cells = rows.map(({ venue, fault, spoilt, counted, relation, isUnaccounted }) => [
    venue,
    fault,
    String(spoilt),
    Object.entries(counted)
      .map(([reason, count]) => `${reason} ${count}`)
      .join(", ") || "-",
    isUnaccounted ? "NOT COUNTED" : relation,
  ]);
  const all = [["venue", "switch", "spoilt", "counted", "relation"], ...cells];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")).join("\n");
}
