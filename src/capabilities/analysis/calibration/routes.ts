import type { FastifyInstance } from "fastify";
import { METERING } from "../../../domain/metering.ts";
import { defineRoute } from "../../../http/route.ts";
import { presentCalibration } from "./present.ts";
import { CalibrationSchema, calibrationQuery } from "./schema.ts";
import type { CalibrationService } from "./service.ts";

/** GET /v1/calibration: how well the probabilities of settled markets were calibrated. */
export function calibrationRoutes(app: FastifyInstance, { service }: { readonly service: CalibrationService }): void {
  defineRoute(app, {
    method: "GET",
    url: "/v1/calibration",
    access: "public",
    metering: METERING.FREE,
    tag: "Analytics",
    summary: "Retrieve the calibration of our probabilities",
    description:
      "Compares probabilities with the results of settled markets, beside the market's own price at the same time. The latest probability per market and horizon counts; those made after the resolution do not. A market that was settled in part counts with its payout, one whose stakes were refunded does not count, and a corrected result replaces the earlier one. The 50,000 most recently settled markets are counted.",
    operationId: "get_calibration",
    query: calibrationQuery,
    responses: { 200: CalibrationSchema },
    errors: ["store_unavailable", "overloaded"],
    handler: async ({ query: { mode = "shadow", period = "all", category = null } }) =>
      presentCalibration(await service.getCalibration({ mode, period, category })),
  });
}
