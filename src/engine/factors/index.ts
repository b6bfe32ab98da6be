import type { Factor } from "../model.ts";
import { calibration } from "./calibration.ts";
import { crossVenue } from "./cross-venue.ts";
import { eventCoherence } from "./event-coherence.ts";
import { momentum } from "./momentum.ts";
import { orderFlow } from "./order-flow.ts";
import { reportedConsensus } from "./reported-consensus.ts";
import { research } from "./research.ts";
import { timeDecay } from "./time-decay.ts";

/** All factors, in the order in which their changes are added. */
export const FACTORS: readonly Factor[] = [
  calibration,
  crossVenue,
  eventCoherence,
  momentum,
  orderFlow,
  timeDecay,
  reportedConsensus,
  research,
];
