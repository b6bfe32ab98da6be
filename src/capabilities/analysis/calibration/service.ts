import { CATEGORIES } from "../../../domain/category.ts";
import { createSingleFlightCache } from "../../../lib/single-flight-cache.ts";
import type { WorkerPool } from "../../../ports/worker-pool.ts";
import type { AreaPorts } from "../../area-ports.ts";
import { computeCalibrationReport } from "./compute.ts";
import {
  CALIBRATION_MODES,
  CALIBRATION_PERIODS,
  type Calibration,
  type CalibrationFilter,
  type CalibrationMode,
  type CalibrationReport,
  type CalibrationSample,
} from "./model.ts";
import { filterSample, readSample } from "./sample.ts";

/** The store is read at most once per mode in this time, for any number of requests. */
const CACHE_MS = 60_000;
/** The result of a slow read is reused for longer, so that reads take at most 1/20 of the time. */
const CACHE_TO_READ_RATIO = 20;
/** Number of combinations of period and category. */
const REPORTS_MAX = CALIBRATION_PERIODS.length * (CATEGORIES.length + 1);
/** For this number of forecasts, the scores and 2,000 resamples take at most a few milliseconds. */
const INLINE_FORECASTS_MAX = 250;

export type CalibrationService = ReturnType<typeof createCalibrationService>;

/** Compares stored probabilities with the results of their markets. */
export function createCalibrationService({
  database,
  clock,
  workers,
}: Pick<AreaPorts, "clock"> & {
  readonly database: Pick<AreaPorts["database"], "query">;
  readonly workers: Pick<WorkerPool<CalibrationSample, CalibrationReport>, "run">;
}) {
  const now = () => clock.monotonic();
  const compute = async (sample: CalibrationSample): Promise<CalibrationReport> => {
    if (sample.probability.length <= INLINE_FORECASTS_MAX) return computeCalibrationReport(sample);
    return workers.run(
      sample,
      Object.values(sample).map(({ buffer }) => buffer),
    );
  };
  /** The sample of a mode, with the reports that were computed from it. */
  const open = async (mode: CalibrationMode) => {
    const [readAt, startedAt] = [clock.now(), now()];
    const sample = await readSample(database, mode);
    return {
      readAt,
      readMs: now() - startedAt,
      sample,
      shareReport: createSingleFlightCache<CalibrationReport>({
        maxAgeMsOf: () => Infinity,
        entriesMax: REPORTS_MAX,
        now,
      }),
    };
  };
  const shareSample = createSingleFlightCache<Awaited<ReturnType<typeof open>>>({
    maxAgeMsOf: ({ readMs }) => Math.max(CACHE_MS, CACHE_TO_READ_RATIO * readMs),
    entriesMax: CALIBRATION_MODES.length,
    now,
  });

  return {
    /**
     * Returns scores that are at most a minute old, or older if reading them takes seconds. Concurrent calls share the work.
     *
     * @throws AppError `store_unavailable`, `overloaded`
     */
    async getCalibration({ mode, period, category }: CalibrationFilter): Promise<Calibration> {
      const { readAt, sample, shareReport } = await shareSample(mode, () => open(mode));
      const report = await shareReport(`${period}/${category ?? ""}`, () =>
        compute(filterSample(sample, { period, category }, readAt)),
      );
      return { mode, period, category, ...report, generatedAt: readAt };
    },
  };
}
