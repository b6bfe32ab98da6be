import { createCoinPriceEvent } from "./crypto.ts";
import { createBestPictureEvent } from "./culture.ts";
import { createDeadlineEvent } from "./deadlines.ts";
import { createFedDecisionEvent, createInflationEvent, createPayrollsEvent } from "./economics.ts";
import { createDateTexts, DAY_MS, draw, type EventDefinition, type TemplateInput } from "./event-definition.ts";
import { createParliamentSeatEvent, createPresidentialElectionEvent } from "./politics.ts";
import { createBasketballChampionEvent, createBasketballGameEvent, createFootballMatchEvent } from "./sports.ts";
import { createRainEvent, createTemperatureEvent } from "./weather.ts";

export { createQuarterHourRound } from "./crypto.ts";
export type { EventDefinition, TemplateInput } from "./event-definition.ts";

/** Relative frequency of each template, and the durations in days for which it is realistic. */
const TEMPLATES = [
  { template: createFedDecisionEvent, weight: 2, daysMin: 1, daysMax: 200 },
  { template: createInflationEvent, weight: 2, daysMin: 1, daysMax: 90 },
  { template: createPayrollsEvent, weight: 2, daysMin: 1, daysMax: 90 },
  { template: createCoinPriceEvent, weight: 5, daysMin: 0, daysMax: 30 },
  { template: createTemperatureEvent, weight: 4, daysMin: 0.2, daysMax: 5 },
  { template: createRainEvent, weight: 3, daysMin: 0, daysMax: 7 },
  { template: createBasketballGameEvent, weight: 6, daysMin: 0, daysMax: 10 },
  { template: createFootballMatchEvent, weight: 5, daysMin: 0, daysMax: 14 },
  { template: createBasketballChampionEvent, weight: 1, daysMin: 30, daysMax: 250 },
  { template: createPresidentialElectionEvent, weight: 3, daysMin: 5, daysMax: 300 },
  { template: createBestPictureEvent, weight: 1, daysMin: 20, daysMax: 200 },
  { template: createParliamentSeatEvent, weight: 5, daysMin: 3, daysMax: 200 },
  { template: createDeadlineEvent, weight: 7, daysMin: 0.5, daysMax: 250 },
];

/** Creates an event with a random template whose duration range includes the duration of the event. */
export function drawEvent(input: TemplateInput): EventDefinition {
  const days = (input.closeAt - input.openAt) / DAY_MS;
  const suitable = TEMPLATES.filter((entry) => days >= entry.daysMin && days <= entry.daysMax);
  const candidates = suitable.length > 0 ? suitable : TEMPLATES;
  let rest = draw(input, 24) * candidates.reduce((sum, entry) => sum + entry.weight, 0);
  const selected = candidates.find((entry) => {
    rest -= entry.weight;
    return rest < 0;
  });
  return (selected?.template ?? createDeadlineEvent)(input, createDateTexts(input.closeAt));
}
