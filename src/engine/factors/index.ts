import type { Factor } from "../model.ts";
import { calibration } from "./calibration.ts";

/** All factors, in the order in which they are added. */
export const FACTORS: readonly Factor[] = [calibration];
