/** How well the probabilities of settled markets were calibrated. */
export type { Calibration, CalibrationReport, CalibrationSample, CalibrationScores, Horizon } from "./model.ts";
export { calibrationRoutes } from "./routes.ts";
export { type CalibrationService, createCalibrationService } from "./service.ts";

/** Module of the worker threads that compute the scores of large samples. */
export const CALIBRATION_WORKER_URL = new URL("./compute.ts", import.meta.url);
