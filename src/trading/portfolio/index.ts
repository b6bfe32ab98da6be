/** The size of a trade beside held positions, from the joint outcomes of all markets. Pure. */
export type {
  CandidateTrade,
  HedgeCandidate,
  HeldPosition,
  PortfolioSize,
  PortfolioTask,
  SizeLimit,
  Tie,
  UncertainMarket,
} from "./model.ts";
export { sizePosition } from "./size-position.ts";
