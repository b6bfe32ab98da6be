import { type BoardMarket, eventSlugOf, findIncompleteSetReason, type MarketBoard } from "../../../board/index.ts";
import { formatMarketRef } from "../../../domain/market-name.ts";
import { findMarketLadders } from "../../../matching/index.ts";
import type { LogicalConstraint } from "../../../trading/index.ts";
import { ALSO_ON_CONFIDENCE_MIN } from "../matching/index.ts";
import type { MarketDependencies } from "../ports.ts";

/**
 * Logical relation between the outcomes of two markets, called hypothesis and question.
 *
 * - same: both resolve alike.
 * - opposite: one resolves YES and the other NO.
 * - exclusive: at most one resolves YES.
 * - implies: if the hypothesis resolves YES, the question resolves YES.
 * - implied: if the question resolves YES, the hypothesis resolves YES.
 */
export const LOGICAL_RELATIONS = ["same", "opposite", "exclusive", "implies", "implied"] as const;
export type LogicalRelation = (typeof LOGICAL_RELATIONS)[number];

interface LogicDependencies extends Pick<MarketDependencies, "pairsOf"> {
  readonly board: Pick<MarketBoard, "findEvent" | "marketsOfEvent">;
}

/** Ladders by event slug. The ladder of an event is computed once for all pairs of markets. */
type Ladders = Map<string, BoardMarket[][]>;

/** Returns the logical relation of two markets, from their questions and events; null if none is known. */
export function findLogicalRelation(
  question: BoardMarket,
  hypothesis: BoardMarket,
  ports: LogicDependencies,
  ladders: Ladders = new Map(),
): LogicalRelation | null {
  return (
    findPairDependence(question, hypothesis, ports.pairsOf) ??
    findEventDependence(question, hypothesis, ports.board, ladders) ??
    findTwinDependence(question, hypothesis, ports) ??
    findTwinDependence(hypothesis, question, ports)
  );
}

/**
 * Returns all logical constraints between markets, which are identified by their index. If exactly one market of an
 * event must resolve YES, and the list contains every market of the event that is not settled NO, the result has an
 * `exhaustive` constraint on these markets.
 */
export function findLogicalConstraints(markets: readonly BoardMarket[], ports: LogicDependencies): LogicalConstraint[] {
  const ladders: Ladders = new Map();
  const constraints = markets.flatMap((hypothesis, b) =>
    markets.slice(0, b).flatMap((question, a): LogicalConstraint[] => {
      const dependence = findLogicalRelation(question, hypothesis, ports, ladders);
      if (dependence === null) return [];
      if (dependence === "implies") return [{ kind: "implies", a: b, b: a }];
      return [{ kind: dependence === "implied" ? "implies" : dependence, a, b }];
    }),
  );
  const slugs = new Set(markets.flatMap(({ listing }) => eventSlugOf(listing) ?? []));
  const indexes = new Map(markets.map(({ row }, index) => [row, index]));
  for (const slug of slugs) {
    const event = ports.board.findEvent(slug);
    const members = ports.board.marketsOfEvent(slug);
    if (event === null || findIncompleteSetReason(event.listing, members, ({ row }) => indexes.has(row)) !== null)
      continue;
    constraints.push({ kind: "exhaustive", markets: members.flatMap(({ row }) => indexes.get(row) ?? []) });
  }
  return constraints;
}

/** Returns the logical relation of two matched markets; null below the confidence at which matches are published. */
function findPairDependence(
  question: BoardMarket,
  hypothesis: BoardMarket,
  pairsOf: LogicDependencies["pairsOf"],
): LogicalRelation | null {
  const { venue, marketId } = question.listing;
  const pair = pairsOf(venue, marketId).find(({ a, b }) => [a, b].includes(formatMarketRef(hypothesis.listing)));
  if (pair === undefined || pair.confidence < ALSO_ON_CONFIDENCE_MIN) return null;
  const isForward = pair.a === formatMarketRef(question.listing);
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

/** Returns the logical relation of two markets of an event, or of a ladder across events; null if none is known. */
function findEventDependence(
  question: BoardMarket,
  hypothesis: BoardMarket,
  board: LogicDependencies["board"],
  ladders: Ladders,
): LogicalRelation | null {
  const slug = eventSlugOf(question.listing);
  if (slug === null || slug !== eventSlugOf(hypothesis.listing))
    return rankInLadder(findMarketLadders([question, hypothesis]), question, hypothesis);
  if (board.findEvent(slug)?.listing.mutuallyExclusive === true) return "exclusive";
  const found = ladders.get(slug) ?? findMarketLadders(board.marketsOfEvent(slug));
  ladders.set(slug, found);
  return rankInLadder(found, question, hypothesis);
}

function rankInLadder(
  ladders: readonly (readonly BoardMarket[])[],
  question: BoardMarket,
  hypothesis: BoardMarket,
): "implies" | "implied" | null {
  const rankIn = (ladder: readonly BoardMarket[], market: BoardMarket) =>
    ladder.findIndex(({ row }) => row === market.row);
  for (const ladder of ladders) {
    const [own, other] = [rankIn(ladder, question), rankIn(ladder, hypothesis)];
    // A ladder is sorted from the widest market to the narrowest: YES of a market implies YES of the previous one.
    if (own !== -1 && other !== -1) return own < other ? "implies" : "implied";
  }
  return null;
}

/** Returns `exclusive` if a market that matches the hypothesis is another outcome of the question's exclusive event. */
function findTwinDependence(
  question: BoardMarket,
  { listing: { venue, marketId } }: BoardMarket,
  { board, pairsOf }: LogicDependencies,
): LogicalRelation | null {
  const slug = eventSlugOf(question.listing);
  if (slug === null || board.findEvent(slug)?.listing.mutuallyExclusive !== true) return null;
  const own = formatMarketRef(question.listing);
  const twins = new Set(
    pairsOf(venue, marketId)
      .filter(({ relation, confidence }) => relation === "identical" && confidence >= ALSO_ON_CONFIDENCE_MIN)
      .flatMap(({ a, b }) => [a, b]),
  );
  const isOutcome = board
    .marketsOfEvent(slug)
    .some((market) => formatMarketRef(market.listing) !== own && twins.has(formatMarketRef(market.listing)));
  return isOutcome ? "exclusive" : null;
}
