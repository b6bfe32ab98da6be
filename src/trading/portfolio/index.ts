/** Sizes a trade next to held positions, from the joint outcomes of all markets. Pure. */
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
