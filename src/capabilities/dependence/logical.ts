import { type BoardMarket, eventSlug, type MarketBoard } from "../../board/index.ts";
import type { VenueId } from "../../domain/market.ts";
import type { MarketPair } from "../../matching/index.ts";
import type { Tie } from "../../trading/index.ts";
import { findMarketLadders } from "../arbitrage/index.ts";
import { ALSO_ON_CONFIDENCE_MIN } from "../matching/index.ts";

/**
 * How a question depends on a hypothesis. same: both have the same answer. opposite: opposite answers. exclusive: at most one
 * is answered YES. implies: if the hypothesis is true, so is the question. implied: only if the hypothesis is true, the
 * question is.
 */
export const LOGICAL_DEPENDENCES = ["same", "opposite", "exclusive", "implies", "implied"] as const;
export type LogicalDependence = (typeof LOGICAL_DEPENDENCES)[number];

export interface LogicPorts {
  readonly board: Pick<MarketBoard, "findEvent" | "marketsOfEvent">;
  readonly pairsOf: (venue: VenueId, marketId: string) => readonly MarketPair[];
}

/** Ladders of events by slug, so that they are found once for all pairs of markets. */
type Ladders = Map<string, BoardMarket[][]>;

/** The dependence that follows from the questions themselves; null if none is known. */
export function findLogicalDependence(
  question: BoardMarket,
  hypothesis: BoardMarket,
  ports: LogicPorts,
  ladders: Ladders = new Map(),
): LogicalDependence | null {
  return (
    findPairDependence(question, hypothesis, ports.pairsOf) ??
    findEventDependence(question, hypothesis, ports.board, ladders) ??
    findTwinDependence(question, hypothesis, ports)
  );
}

/**
 * All logical ties between markets, which the result names by their index. Markets of an event that covers every
 * possibility have a tie of their own if all of them are in the list.
 */
export function findTies(markets: readonly BoardMarket[], ports: LogicPorts): Tie[] {
  const ladders: Ladders = new Map();
  const ties = markets.flatMap((hypothesis, b) =>
    markets.slice(0, b).flatMap((question, a): Tie[] => {
      const dependence =
        findLogicalDependence(question, hypothesis, ports, ladders) ?? findTwinDependence(hypothesis, question, ports);
      if (dependence === null) return [];
      if (dependence === "implies") return [{ kind: "implies", a: b, b: a }];
      return [{ kind: dependence === "implied" ? "implies" : dependence, a, b }];
    }),
  );
  const slugs = new Set(markets.flatMap(({ listing }) => slugOf(listing) ?? []));
  const indexes = new Map(markets.map(({ row }, index) => [row, index]));
  for (const slug of slugs) {
    if (ports.board.findEvent(slug)?.listing.exhaustive !== true) continue;
    const members = ports.board.marketsOfEvent(slug).map(({ row }) => indexes.get(row));
    const known = members.filter((index) => index !== undefined);
    if (known.length === members.length) ties.push({ kind: "exhaustive", markets: known });
  }
  return ties;
}

const idOf = ({ listing: { venue, marketId } }: BoardMarket): string => `${venue}/${marketId}`;

function slugOf({ venue, eventId }: BoardMarket["listing"]): string | null {
  return eventId === null ? null : eventSlug(venue, eventId);
}

/** By the relation that matching found between markets of two venues, if it is as certain as it must be to be shown as a fact. */
function findPairDependence(
  question: BoardMarket,
  hypothesis: BoardMarket,
  pairsOf: LogicPorts["pairsOf"],
): LogicalDependence | null {
  const { venue, marketId } = question.listing;
  const pair = pairsOf(venue, marketId).find(({ a, b }) => [a, b].includes(idOf(hypothesis)));
  if (pair === undefined || pair.confidence < ALSO_ON_CONFIDENCE_MIN) return null;
  const isForward = pair.a === idOf(question);
  switch (pair.relation) {
    case "identical":
      return "same";
    case "inverse":
      return "opposite";
    case "subset":
      return isForward ? "implied" : "implies";
    case "superset":
      return isForward ? "implies" : "implied";
    default:
      return null;
  }
}

/** By the event that both markets belong to. */
function findEventDependence(
  question: BoardMarket,
  hypothesis: BoardMarket,
  board: LogicPorts["board"],
  ladders: Ladders,
): LogicalDependence | null {
  const slug = slugOf(question.listing);
  if (slug === null || slug !== slugOf(hypothesis.listing)) return null;
  if (board.findEvent(slug)?.listing.mutuallyExclusive === true) return "exclusive";
  const rankIn = (ladder: readonly BoardMarket[], market: BoardMarket) =>
    ladder.findIndex(({ row }) => row === market.row);
  const found = ladders.get(slug) ?? findMarketLadders(board.marketsOfEvent(slug));
  ladders.set(slug, found);
  for (const ladder of found) {
    const [own, other] = [rankIn(ladder, question), rankIn(ladder, hypothesis)];
    // A ladder goes from the widest market to the narrowest, and each market implies the one before.
    if (own !== -1 && other !== -1) return own < other ? "implies" : "implied";
  }
  return null;
}

/** Exclusive if the same question as the hypothesis is another outcome of the question's event, which excludes others. */
function findTwinDependence(
  question: BoardMarket,
  { listing: { venue, marketId } }: BoardMarket,
  { board, pairsOf }: LogicPorts,
): LogicalDependence | null {
  const slug = slugOf(question.listing);
  if (slug === null || board.findEvent(slug)?.listing.mutuallyExclusive !== true) return null;
  const own = idOf(question);
  const twins = new Set(
    pairsOf(venue, marketId)
      .filter(({ relation, confidence }) => relation === "identical" && confidence >= ALSO_ON_CONFIDENCE_MIN)
      .flatMap(({ a, b }) => [a, b]),
  );
  const isOutcome = board.marketsOfEvent(slug).some((market) => idOf(market) !== own && twins.has(idOf(market)));
  return isOutcome ? "exclusive" : null;
}
