import { FAULT_NAMES, type FaultName } from "../../../sandbox/faults/switches.ts";
import { SANDBOX_VENUES, type SandboxVenue } from "../../../sandbox/world/types.ts";

/**
 * The expected relation between injected faults and drop counts in health:
 * - `each`: every fault is counted exactly once, under one of the reasons.
 * - `at_most`: faults are counted, but never more often than they were injected. A fault on a closing connection has no
 *   effect.
 * - `some`: faults are counted. One fault may count several times, or not at all if no adapter reads the affected field.
 * - `none`: the service cannot always detect the fault; `why` explains it. The fault may be counted under the reasons.
 */
export interface FaultExpectation {
  readonly relation: "each" | "at_most" | "some" | "none";
  readonly reasons: readonly string[];
  readonly why: string;
}

/**
 * Minimum number of injected faults from which a drop count of zero is an error; the default is 1. With all switches
 * on, faults hide each other: a crossed book is emptied, a page is sent to a disconnected client, a message is sent on
 * a closing connection. Below this number only the contract test, which enables one switch at a time, detects a missing
 * count.
 */
const FAULTS_MIN: Partial<Record<FaultName, number>> = {
  half_page: 20,
  crossed_book: 500,
  price_out_of_range: 500,
  clock_skew: 500,
  socket_out_of_order: 20,
  socket_gap: 20,
  socket_duplicate: 100,
};

const countEach = (reason: string): FaultExpectation => ({
  relation: "each",
  reasons: [reason],
  why: "each fault fails one request",
});
const countNone = (why: string, ...reasons: readonly string[]): FaultExpectation => ({
  relation: "none",
  reasons,
  why,
});
const countOnlyAtKalshi = (why: string, kalshi: FaultExpectation, ...reasons: readonly string[]) =>
  atAllVenues(countNone(why, ...reasons), { kalshi });
const atAllVenues = (
  expectation: FaultExpectation,
  exceptions: Partial<Record<SandboxVenue, FaultExpectation>> = {},
): Readonly<Record<SandboxVenue, FaultExpectation>> => ({
  kalshi: expectation,
  polymarket: expectation,
  limitless: expectation,
  manifold: expectation,
  ...exceptions,
});

const UNREADABLE_MESSAGE = "the message cannot be parsed";
const KALSHI_DUPLICATE: FaultExpectation = {
  relation: "at_most",
  reasons: ["message_repeated"],
  why: "only trade and lifecycle messages have sequence numbers",
};
const KALSHI_SEQUENCE: FaultExpectation = {
  relation: "some",
  reasons: ["sequence_gap", "message_not_subscribed"],
  why: "trade and lifecycle messages have sequence numbers, quotes have none; if the confirmation is lost, the client does not know the subscription",
};

const HALF_PAGE_REASONS = ["page_rows_repeated", "page_loop", "page_short", "page_empty", "sweep_shrunk"];

/** The expected drop reasons of each switch, by venue. */
export const FAULT_EXPECTATIONS: Readonly<Record<FaultName, Readonly<Record<SandboxVenue, FaultExpectation>>>> = {
  latency: atAllVenues(countNone("the response is complete")),
  rate_limit: atAllVenues(countEach("attempt_rate_limited")),
  rate_limit_seconds: atAllVenues(countEach("attempt_rate_limited")),
  rate_limit_date: atAllVenues(countEach("attempt_rate_limited")),
  rate_limit_absurd: atAllVenues(countEach("attempt_rate_limited")),
  server_error: atAllVenues(countEach("attempt_server_error")),
  cut_body: atAllVenues(countEach("attempt_bad_body")),
  cut_socket: atAllVenues(countEach("attempt_network")),
  garbage: atAllVenues(countEach("attempt_bad_body")),
  half_page: atAllVenues(
    {
      relation: "some",
      reasons: HALF_PAGE_REASONS,
      why: "detected by repeated rows, repeated cursors, or fewer rows than the venue's total; without these signs a half page looks like a shorter list, which two sweeps and a request by id correct",
    },
    {
      manifold: countNone(
        "a page has up to 1,000 contracts; half of a list of one page looks like a shorter list unless fewer than half of the markets remain",
        ...HALF_PAGE_REASONS,
      ),
    },
  ),
  crossed_book: atAllVenues(
    {
      relation: "some",
      reasons: ["crossed_book", "book_mismatch"],
      why: "only books that an adapter reads are checked; crossed books are also injected into candles",
    },
    { manifold: countNone("the venue has no books") },
  ),
  empty_book: atAllVenues(countNone("undetectable: markets without orders are common; the next sweep corrects it")),
  price_out_of_range: atAllVenues({
    relation: "some",
    reasons: ["price_out_of_range", "bad_row", "bad_trade", "bad_history_point", "book_mismatch"],
    why: "adapters read only some prices of an object; a changed percentage may still be in [0, 1]",
  }),
  clock_skew: atAllVenues({
    relation: "some",
    reasons: ["time_ahead", "stream_time_ahead", "out_of_order", "stream_frame_overtaken"],
    why: "only timestamps of stream messages are checked, because they determine the order",
  }),
  frozen: atAllVenues({
    relation: "some",
    reasons: ["attempt_timeout", "stream_connection_lost"],
    why: "requests and new sockets time out unless the fault ends first",
  }),
  socket_duplicate: countOnlyAtKalshi("a repeated message changes nothing", KALSHI_DUPLICATE),
  socket_out_of_order: countOnlyAtKalshi(
    "detectable only by an earlier timestamp of the same market",
    KALSHI_SEQUENCE,
    "out_of_order",
    "stream_frame_overtaken",
    "book_mismatch",
  ),
  socket_gap: countOnlyAtKalshi("undetectable without sequence numbers", KALSHI_SEQUENCE, "book_mismatch"),
  socket_garbage: atAllVenues(
    { relation: "at_most", reasons: ["bad_message"], why: UNREADABLE_MESSAGE },
    {
      polymarket: { relation: "at_most", reasons: ["bad_frame"], why: UNREADABLE_MESSAGE },
      limitless: { relation: "at_most", reasons: ["stream_connection_lost"], why: "Socket.IO closes the connection" },
    },
  ),
  socket_drop: atAllVenues({
    relation: "at_most",
    reasons: ["stream_connection_lost"],
    why: "the venue closes the connection, possibly before the subscription",
  }),
  socket_frozen: atAllVenues({
    relation: "some",
    reasons: ["stream_silent", "stream_frozen", "stream_connection_lost"],
    why: "detected by the stall detector or by the protocol's heartbeat if the silence lasts long enough",
  }),
};

export interface FaultCountRow {
  readonly venue: SandboxVenue;
  readonly fault: FaultName;
  /** Number of injected faults. */
  readonly faults: number;
  /** Drop counts in health, by expected reason. */
  readonly counted: Readonly<Record<string, number>>;
  readonly relation: FaultExpectation["relation"];
  /** Whether a required count is missing. */
  readonly isUncounted: boolean;
}

type Counts = Readonly<Record<string, number>>;

/**
 * Compares each injected fault with the drop counts in health. If several switches are on, they may share a
 * reason; a row then shows only that one of these faults was counted.
 */
export function countFaults(
  injected: Readonly<Record<string, Counts>>,
  drops: Readonly<Record<string, Counts>>,
): FaultCountRow[] {
  return SANDBOX_VENUES.flatMap((venue) =>
    FAULT_NAMES.flatMap((fault) => {
      const faults = injected[venue]?.[fault] ?? 0;
      if (faults === 0) return [];
      const { relation, reasons } = FAULT_EXPECTATIONS[fault][venue];
      const counted = Object.fromEntries(
        reasons.flatMap((reason) => {
          const count = drops[venue]?.[reason] ?? 0;
          return count === 0 ? [] : [[reason, count]];
        }),
      );
      const mustBeCounted = relation !== "none" && faults >= (FAULTS_MIN[fault] ?? 1);
      const isUncounted = mustBeCounted && Object.keys(counted).length === 0;
      return [{ venue, fault, faults, counted, relation, isUncounted }];
    }),
  );
}

/** Formats one line per row. */
export function faultCountTable(rows: readonly FaultCountRow[]): string {
  const cells = rows.map(({ venue, fault, faults, counted, relation, isUncounted }) => [
    venue,
    fault,
    String(faults),
    Object.entries(counted)
      .map(([reason, count]) => `${reason} ${count}`)
      .join(", ") || "-",
    isUncounted ? "NOT COUNTED" : relation,
  ]);
  const lines = [["venue", "switch", "faults", "counted", "relation"], ...cells];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...lines.map((row) => row[column]?.length ?? 0)));
  return lines.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")).join("\n");
}
