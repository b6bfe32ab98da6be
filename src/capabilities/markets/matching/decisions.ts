import { AppError } from "../../../domain/errors.ts";
import type { VenueId } from "../../../domain/market.ts";
import { formatMarketRef, parseMarketRef } from "../../../domain/market-name.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Database } from "../../../ports/database.ts";
import type { MatchDecision } from "./model.ts";
import { deleteDecision, selectDecisions, selectStoredMarkets, upsertDecisions } from "./queries.ts";

/** Bus topic that announces changed decisions. */
export const MATCHES_TOPIC = "matches";
/** Maximum number of stored decisions. All decisions are in memory, and the thread gets them in one message. */
export const DECISIONS_MAX = 10_000;
const MARKET_ID_PATTERN = /^[\x21-\x7e]{1,512}$/;
export const NOTE_LENGTH_MAX = 500;

/** A decision to store. `markets` are two ids `venue/market_id`, in any order. */
export interface MatchRequest extends Pick<MatchDecision, "decision" | "note" | "decidedBy"> {
  readonly markets: readonly [string, string];
}

export type MatchDecisions = ReturnType<typeof createMatchDecisions>;

/** Stores operators' decisions about pairs of markets. Decisions persist across restarts and apply on every node. */
export function createMatchDecisions(options: {
  readonly database: Database;
  readonly clock: Pick<Clock, "now">;
  readonly venues: readonly VenueId[];
  /** Called after a change is stored. */
  readonly onChanged: () => void;
}) {
  const { database, clock, venues, onChanged } = options;

  /** @throws RangeError unless the ids are `venue/market_id` of two different venues */
  const parsePair = (first: string, second: string) => {
    const [a = "", b = ""] = [checkId(first), checkId(second)].sort();
    const [venueA, venueB] = [parseMarketRef(a).venue, parseMarketRef(b).venue];
    if (venueA === venueB) throw new RangeError(`Both markets are of ${venueA}; a match needs two venues.`);
    return { a, b };
  };

  /** @throws RangeError unless the id is `venue/market_id` of a configured venue */
  const checkId = (id: string): string => {
    const { venue, marketId } = parseMarketRef(id);
    if (!id.includes("/") || !MARKET_ID_PATTERN.test(marketId))
      throw new RangeError(`${id}: a market has the form venue/market_id.`);
    if (!venues.includes(venue)) throw new RangeError(`${id}: the venue is not one of ${venues.join(", ")}.`);
    return id;
  };

  /** @throws RangeError for an invalid pair or note */
  const checkRequest = ({ markets, decision, note, decidedBy }: MatchRequest) => {
    if (note !== null && note.length > NOTE_LENGTH_MAX)
      throw new RangeError(`--note: must have at most ${NOTE_LENGTH_MAX} characters.`);
    if (note?.includes("\0") === true) throw new RangeError("--note: must not contain a NUL character.");
    const { a, b } = parsePair(...markets);
    return { a, b, decision, note, decidedBy };
  };

  /**
   * Stores all decisions or none. Replaces earlier decisions about the same pairs. The pairs must be distinct.
   *
   * @returns the decisions, in the order of the requests
   * @throws RangeError for an invalid pair or note; AppError `overloaded` if too many decisions would be stored
   */
  const decideAll = async (requests: readonly MatchRequest[]): Promise<MatchDecision[]> => {
    const decidedAt = clock.now();
    const decisions = requests.map((request) => ({ ...checkRequest(request), decidedAt }));
    if (!(await upsertDecisions(database, decisions, DECISIONS_MAX)))
      throw new AppError("overloaded", `At most ${DECISIONS_MAX} decisions can be stored; clear some of them first`);
    onChanged();
    return decisions;
  };

  return {
    checkId,
    checkRequest,
    decideAll,

    /** Returns all decisions, sorted by the ids of the markets. */
    list: (): Promise<MatchDecision[]> => selectDecisions(database, DECISIONS_MAX),

    async decide(request: MatchRequest): Promise<MatchDecision> {
      const [decision] = await decideAll([request]);
      if (decision === undefined) throw new Error("no decision was stored");
      return decision;
    },

    /** Deletes a decision. Returns false if there was none. @throws RangeError for an invalid pair */
    async clear(first: string, second: string): Promise<boolean> {
      const { a, b } = parsePair(first, second);
      const hadDecision = await deleteDecision(database, a, b);
      if (hadDecision) onChanged();
      return hadDecision;
    },

    /** Returns the ids that are not in the store: unlisted or misspelled markets. */
    async listUnknown(ids: readonly string[]): Promise<string[]> {
      const stored = new Set((await selectStoredMarkets(database, ids.map(parseMarketRef))).map(formatMarketRef));
      return ids.filter((id) => !stored.has(id));
    },
  };
}
