import type { BoardMarket, MarketBoard } from "../../../board/index.ts";
import { AppError, InvalidRequestError } from "../../../domain/errors.ts";
import type { VenueId } from "../../../domain/market.ts";
import { parseMarketName } from "../../../domain/market-name.ts";
import type { Clock } from "../../../ports/clock.ts";
import { findByQuestion, type QuestionAnswer, type QuestionSearchPorts } from "../../markets/question-search/index.ts";
import type { SignalRequest } from "./model.ts";

export interface FindMarketPorts {
  readonly board: Pick<MarketBoard, "find"> & QuestionSearchPorts["board"];
  readonly clock: Pick<Clock, "now">;
  readonly pairsOf: QuestionSearchPorts["pairsOf"];
  /** Ids of the venues that clients can query. */
  readonly venues: readonly VenueId[];
  /** Returns a market, or fetches it from its venue. Throws AppError `market_not_found`. */
  readonly getMarket: (venue: VenueId, marketId: string) => Promise<BoardMarket>;
}

/**
 * Finds the market that a request names by its id or asks about in words.
 *
 * @throws AppError `market_not_found`, `ambiguous_query`; InvalidRequestError if the request names neither, or an id of
 *   several venues; VenueError
 */
export async function findMarket(
  ports: FindMarketPorts,
  { venue, marketId, question }: Pick<SignalRequest, "venue" | "marketId" | "question">,
): Promise<{ readonly market: BoardMarket; readonly answer: QuestionAnswer | null }> {
  if (marketId !== null) return { market: await findById(ports, venue, marketId), answer: null };
  const text = question?.trim() ?? "";
  if (text === "")
    throw createError("market_id", null, "market_id or market_query is required; market_query may not be empty");
  const { board, pairsOf, clock } = ports;
  const venues = venue === null ? ports.venues : [venue];
  const answer = findByQuestion({ board, pairsOf, now: clock.now() }, text, { venues });
  return { market: answer.market, answer };
}

async function findById(ports: FindMarketPorts, venue: VenueId | null, marketId: string): Promise<BoardMarket> {
  const { board, venues, getMarket } = ports;
  const name = parseMarketName(marketId, venues, venue);
  if (name !== null && venue !== null && name.venue !== venue)
    throw createError("market_id", marketId, `the market is of ${name.venue}, and platform is ${venue}`);
  if (name !== null) return board.find(name.venue, name.marketId) ?? (await getMarket(name.venue, name.marketId));
  const found = venues.flatMap((id) => board.find(id, marketId) ?? []);
  const [market] = found;
  if (market === undefined)
    throw new AppError("market_not_found", "No venue lists a market with this id; send platform to look it up there");
  if (found.length > 1) {
    const ids = found.map(({ listing }) => listing.venue).join(", ");
    throw createError("platform", null, `several venues list a market with this id (${ids}); send platform`);
  }
  return market;
}

const createError = (field: string, input: unknown, reason: string) =>
  new InvalidRequestError([
    { type: "value_error", loc: ["body", field], msg: `Value error, ${reason}`, input, ctx: { error: {} } },
  ]);
