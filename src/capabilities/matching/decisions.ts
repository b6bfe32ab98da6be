import { AppError } from "../../domain/errors.ts";
import type { VenueId } from "../../domain/market.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import { type MatchDecision, marketIdOf, parseMarketId } from "./model.ts";
import { deleteDecision, selectDecisions, selectStoredMarkets, upsertDecision } from "./queries.ts";

/** Bus topic of changed decisions. */
export const MATCHES_TOPIC = "matches";
/** Largest number of stored decisions. All of them are in memory and are sent to the thread together. */
const DECISIONS_MAX = 10_000;
const MARKET_ID_PATTERN = /^[\x21-\x7e]{1,512}$/;
export const NOTE_LENGTH_MAX = 500;

export type MatchDecisions = ReturnType<typeof createMatchDecisions>;

/** Stores the decisions of operators about pairs of markets. They outlive restarts and apply on every node. */
export function createMatchDecisions(options: {
  readonly database: Database;
  readonly clock: Pick<Clock, "now">;
  /** Ids of the configured venues. */
  readonly venues: readonly VenueId[];
  /** Called after a change is stored. */
  readonly onChanged: () => void;
}) {
  const { database, clock, venues, onChanged } = options;

  /** @throws RangeError unless the ids are `venue/market_id` of two different venues */
  const parsePair = (first: string, second: string) => {
    const [a = "", b = ""] = [checkId(first), checkId(second)].sort();
    const [venueA, venueB] = [parseMarketId(a).venue, parseMarketId(b).venue];
    if (venueA === venueB) throw new RangeError(`Both markets are of ${venueA}; a match needs two venues.`);
    return { a, b };
  };

  /** @throws RangeError unless the id is `venue/market_id` of a configured venue */
  const checkId = (id: string): string => {
    const { venue, marketId } = parseMarketId(id);
    if (!id.includes("/") || !MARKET_ID_PATTERN.test(marketId))
      throw new RangeError(`${id}: a market has the form venue/market_id.`);
    if (!venues.includes(venue)) throw new RangeError(`${id}: the venue is not one of ${venues.join(", ")}.`);
    return id;
  };

  return {
    checkId,

    /** Returns all decisions, sorted by the ids of the markets. */
    list: (): Promise<MatchDecision[]> => selectDecisions(database, DECISIONS_MAX),

    /**
     * Stores a decision, replacing an earlier one about the same markets.
     *
     * @returns the decision
     * @throws RangeError for an invalid pair or note; AppError `overloaded` if too many decisions are stored
     */
    async decide(
      request: { readonly markets: readonly [string, string] } & Pick<MatchDecision, "decision" | "note" | "decidedBy">,
    ): Promise<MatchDecision> {
      const { markets, decision, note, decidedBy } = request;
      if (note !== null && note.length > NOTE_LENGTH_MAX)
        throw new RangeError(`--note: must have at most ${NOTE_LENGTH_MAX} characters.`);
      if (note?.includes("\0") === true) throw new RangeError("--note: must not contain a NUL character.");
      const stored = { ...parsePair(...markets), decision, note, decidedBy, decidedAt: clock.now() };
      if (!(await upsertDecision(database, stored, DECISIONS_MAX)))
        throw new AppError("overloaded", `There are already ${DECISIONS_MAX} decisions; clear some of them first`);
      onChanged();
      return stored;
    },

    /** Deletes a decision. Returns false if there was none. @throws RangeError for an invalid pair */
    async clear(first: string, second: string): Promise<boolean> {
      const { a, b } = parsePair(first, second);
      const hadDecision = await deleteDecision(database, a, b);
      if (hadDecision) onChanged();
      return hadDecision;
    },

    /** Returns those of the markets that are not in the store: they may not be listed at present, or be misspelled. */
    async listUnknown(ids: readonly string[]): Promise<string[]> {
      const stored = new Set((await selectStoredMarkets(database, ids.map(parseMarketId))).map(marketIdOf));
      return ids.filter((id) => !stored.has(id));
    },
  };
}
