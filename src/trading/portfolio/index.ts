/** Sizes a trade for a portfolio, from the joint outcomes of all markets. Pure functions. */
export {
  advisePosition,
  type OppositeOffer,
  POSITION_ACTIONS,
  type PositionAdvice,
} from "./advise-position.ts";
export type {
  HedgeCandidate,
  HeldPosition,
  LogicalConstraint,
  PortfolioSize,
  PortfolioTask,
  SizeLimit,
} from "./model.ts";
export { sizePosition } from "./size-position.ts";
