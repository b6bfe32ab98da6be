import type { BoardMarket } from "../../../board/index.ts";
import { AppError, invalidValue } from "../../../domain/errors.ts";
import type { VenueId } from "../../../domain/market.ts";
import { parseMarketName } from "../../../domain/market-name.ts";
import type { MarketDependencies } from "../../markets/ports.ts";
import { findByQuestion, type QuestionAnswer } from "../../markets/question-search/index.ts";
import type { SignalRequest } from "./model.ts";

export type FindMarketDependencies = Pick<MarketDependencies, "board" | "clock" | "venues" | "pairsOf" | "getMarket">;

/**
 * Finds the market of a request, from a market id or a question in words.
 *
 * @throws AppError `market_not_found`, `ambiguous_query`; InvalidRequestError if the request has neither, or if the id
 *   exists at several venues; VenueError
 */
export async function findMarket(
  ports: FindMarketDependencies,
  { venue, marketId, question }: Pick<SignalRequest, "venue" | "marketId" | "question">,
): Promise<{ readonly market: BoardMarket; readonly answer: QuestionAnswer | null }> {
  if (marketId !== null) return { market: await findById(ports, venue, marketId), answer: null };
  const text = question?.trim() ?? "";
  if (text === "")
    throw invalidValue(
      ["body", "market_id"],
      "market_id or market_query is required; market_query may not be empty",
      null,
    );
  const { board, pairsOf, clock } = ports;
  const venues = venue === null ? ports.venues : [venue];
  const answer = findByQuestion({ board, pairsOf, now: clock.now() }, text, { venues });
  return { market: answer.market, answer };
}

async function findById(ports: FindMarketDependencies, venue: VenueId | null, marketId: string): Promise<BoardMarket> {
  const { board, venues, getMarket } = ports;
  const name = parseMarketName(marketId, venues, venue);
  if (name !== null && venue !== null && name.venue !== venue)
    throw invalidValue(["body", "market_id"], `the market is of ${name.venue}, and platform is ${venue}`, marketId);
  if (name !== null) return board.find(name.venue, name.marketId) ?? (await getMarket(name.venue, name.marketId));
  const found = venues.flatMap((id) => board.find(id, marketId) ?? []);
  const [market] = found;
  if (market === undefined)
    throw new AppError("market_not_found", "No venue lists a market with this id; send platform to look it up there");
  if (found.length > 1) {
    const ids = found.map(({ listing }) => listing.venue).join(", ");
    throw invalidValue(["body", "platform"], `several venues list a market with this id (${ids}); send platform`, null);
  }
  return market;
}
