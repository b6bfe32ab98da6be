import { coinPrice } from "./crypto.ts";
import { bestPicture } from "./culture.ts";
import { deadlines } from "./deadlines.ts";
import { fedDecision, inflation, payrolls } from "./economics.ts";
import { DAY_MS, dateTexts, draw, type EventDefinition, type TemplateInput } from "./event-definition.ts";
import { parliamentSeat, presidentialElection } from "./politics.ts";
import { basketballChampion, basketballGame, footballMatch } from "./sports.ts";
import { rain, temperature } from "./weather.ts";

export { quarterHourRound } from "./crypto.ts";
export type { EventDefinition, TemplateInput } from "./event-definition.ts";

/** Relative frequency of each template, and the durations in days for which it is realistic. */
const TEMPLATES = [
  { template: fedDecision, weight: 2, daysMin: 1, daysMax: 200 },
  { template: inflation, weight: 2, daysMin: 1, daysMax: 90 },
  { template: payrolls, weight: 2, daysMin: 1, daysMax: 90 },
  { template: coinPrice, weight: 5, daysMin: 0, daysMax: 30 },
  { template: temperature, weight: 4, daysMin: 0.2, daysMax: 5 },
  { template: rain, weight: 3, daysMin: 0, daysMax: 7 },
  { template: basketballGame, weight: 6, daysMin: 0, daysMax: 10 },
  { template: footballMatch, weight: 5, daysMin: 0, daysMax: 14 },
  { template: basketballChampion, weight: 1, daysMin: 30, daysMax: 250 },
  { template: presidentialElection, weight: 3, daysMin: 5, daysMax: 300 },
  { template: bestPicture, weight: 1, daysMin: 20, daysMax: 200 },
  { template: parliamentSeat, weight: 5, daysMin: 3, daysMax: 200 },
  { template: deadlines, weight: 7, daysMin: 0.5, daysMax: 250 },
];

/** Creates an event from a random template that suits its duration. */
export function drawEvent(input: TemplateInput): EventDefinition {
  const days = (input.closeAt - input.openAt) / DAY_MS;
  const suitable = TEMPLATES.filter((entry) => days >= entry.daysMin && days <= entry.daysMax);
  const candidates = suitable.length > 0 ? suitable : TEMPLATES;
  let rest = draw(input, 24) * candidates.reduce((sum, entry) => sum + entry.weight, 0);
  const selected = candidates.find((entry) => {
    rest -= entry.weight;
    return rest < 0;
  });
  return (selected?.template ?? deadlines)(input, dateTexts(input.closeAt));
}
