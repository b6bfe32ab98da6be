import { SKILL_QUESTIONS_MIN } from "../../../quant/calibration.ts";
import type { Calibration, CalibrationScores } from "./model.ts";

export function presentCalibration(calibration: Calibration) {
  const { mode, period, category, total, brierDifference, bins, byCategory, byHorizon, generatedAt } = calibration;
  return {
    mode,
    period,
    category,
    ...presentScores(total),
    questions_required: SKILL_QUESTIONS_MIN,
    brier_difference:
      brierDifference === null
        ? null
        : { value: brierDifference.value, ci_low: brierDifference.low, ci_high: brierDifference.high },
    bins: bins.map(({ lower, upper, count, meanPredicted, observedFrequency, low, high }) => ({
      lower,
      upper,
      mean_predicted: meanPredicted,
      observed_frequency: observedFrequency,
      count,
      ci_low: low,
      ci_high: high,
    })),
    by_category: byCategory.map((scores) => ({ category: scores.category, ...presentScores(scores) })),
    by_horizon: byHorizon.map((scores) => ({ horizon: scores.horizon, ...presentScores(scores) })),
    generated_at: new Date(generatedAt).toISOString(),
  };
}

const presentScores = (scores: CalibrationScores) => ({
  sample_size: scores.sampleSize,
  markets: scores.markets,
  independent_questions: scores.questions,
  brier_score: scores.brierScore,
  market_brier_score: scores.marketBrierScore,
  brier_skill_score: scores.brierSkillScore,
  log_loss: scores.logLoss,
  market_log_loss: scores.marketLogLoss,
  expected_calibration_error: scores.expectedCalibrationError,
});
