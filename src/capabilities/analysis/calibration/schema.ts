import Type, { type Static } from "typebox";
import { CATEGORIES } from "../../../domain/category.ts";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import {
  count,
  nullableAmount,
  nullableNumber,
  nullableOneOf,
  nullableProbability,
  oneOf,
  probability,
  timestamp,
} from "../../../http/schema-types.ts";
import { CALIBRATION_MODES, CALIBRATION_PERIODS, HORIZONS } from "./model.ts";

const scores = {
  sample_size: count("Number of forecasts: at most one per market and horizon."),
  markets: count("Number of different markets among them."),
  independent_questions: count(
    "Number of independent questions among them. Markets of one event and markets that are matched at different venues count once.",
  ),
  brier_score: nullableProbability(
    "Mean of (probability - outcome)². 0 is best. Null with fewer than `questions_required` independent questions, like all scores.",
  ),
  market_brier_score: nullableProbability(
    "The same score of the market's own price at the time of each forecast. Null in `live` mode.",
  ),
  brier_skill_score: nullableNumber(
    "1 - `brier_score` / `market_brier_score`. Above 0 is better than the price. Null if either is null or the price was perfect.",
  ),
  log_loss: nullableAmount(
    "Mean of -ln of the probability given to the outcome. 0 is best. Probabilities are limited to [0.0001, 0.9999].",
  ),
  market_log_loss: nullableAmount("The same loss of the market's own price. Null in `live` mode."),
  expected_calibration_error: nullableProbability(
    "Mean distance of `mean_predicted` and `observed_frequency` over the bins, weighted by their counts. It is above 0 for a small sample even if all probabilities are right.",
  ),
};

export const calibrationQuery = Type.Object({
  mode: Type.Optional(
    oneOf(CALIBRATION_MODES, {
      default: "shadow",
      description:
        "`shadow`: probabilities of our own analyses, `NO_TRADE` included. `live`: probabilities that the trades reported by agents imply, weighted by USD; a market and horizon counts only with at least 3 agents.",
    }),
  ),
  period: Type.Optional(
    oneOf(CALIBRATION_PERIODS, { default: "all", description: "Only markets that were settled in this time." }),
  ),
  category: Type.Optional(oneOf(CATEGORIES, { description: "Only markets of this category." })),
});

const brierDifference = Type.Object({
  value: Type.Number({ minimum: -1, maximum: 1 }),
  ci_low: nullableNumber("Lower bound of the 95% interval."),
  ci_high: nullableNumber("Upper bound of the 95% interval."),
});

export const CalibrationSchema = Type.Object(
  {
    mode: oneOf(CALIBRATION_MODES),
    period: oneOf(CALIBRATION_PERIODS),
    category: nullableOneOf(CATEGORIES, "The requested category. Null counts all."),
    ...scores,
    questions_required: Type.Integer({
      minimum: 1,
      description:
        "A sample with fewer independent questions has counts, but no scores: they would say nothing about skill.",
    }),
    brier_difference: Type.Unsafe<Static<typeof brierDifference> | null>({
      ...brierDifference,
      type: ["object", "null"],
      description:
        "`brier_score` minus `market_brier_score`; below 0 is better than the price. The interval counts each independent question as one observation, over all venues: a cluster bootstrap up to 5,000 questions, the normal approximation above. Null if either score is null.",
    }),
    bins: Type.Array(
      Type.Object({
        lower: probability("Lower edge, inclusive."),
        upper: probability("Upper edge, exclusive. The last bin includes 1."),
        mean_predicted: nullableProbability(
          "Mean probability of the bin's forecasts. Null if it is empty, or the sample is too small.",
        ),
        observed_frequency: nullableProbability(
          "Mean outcome of their markets. Null if it is empty, or the sample is too small.",
        ),
        count: count("Number of forecasts."),
        ci_low: nullableProbability(
          "Lower bound of the 95% Wilson interval of `observed_frequency`. Each independent question is one observation.",
        ),
        ci_high: nullableProbability("Upper bound of that interval."),
      }),
      { description: "Reliability in ten bins of equal width, also if they are empty." },
    ),
    by_category: Type.Array(
      Type.Object({
        category: nullableOneOf(CATEGORIES, "Null if the category of the market is unknown."),
        ...scores,
      }),
      { description: "Scores of each category with forecasts." },
    ),
    by_horizon: Type.Array(
      Type.Object({
        horizon: oneOf(
          HORIZONS.map(({ name }) => name),
          { description: "Time from the forecast to the resolution." },
        ),
        ...scores,
      }),
      { description: "Scores of each horizon, also without forecasts." },
    ),
    generated_at: timestamp(
      "When the forecasts were read from the store. A result is kept for a minute, and for longer if reading takes seconds.",
    ),
  },
  { [SCHEMA_NAME]: "Calibration" },
);
