import { nextElectionSunday, type ScheduledEvent } from "./calendar.ts";
import { createCoinPriceEvent } from "./crypto.ts";
import { createDeadlineEvent } from "./deadlines.ts";
import {
  createDateTexts,
  DAY_MS,
  draw,
  type EventDefinition,
  type Template,
  type TemplateInput,
} from "./event-definition.ts";
import { createParliamentSeatEvent } from "./politics.ts";
import { createBasketballGameEvent, createFootballMatchEvent } from "./sports.ts";
import { createRainEvent, createTemperatureEvent } from "./weather.ts";

export { listScheduledEvents, SCHEDULED_OPEN_MS_MAX, type ScheduledEvent } from "./calendar.ts";
export { createQuarterHourRound } from "./crypto.ts";
export type { EventDefinition, TemplateInput } from "./event-definition.ts";

interface TemplateEntry {
  readonly template: Template;
  /** Relative frequency. */
  readonly weight: number;
  /** Durations for which the template is realistic. */
  readonly daysMin: number;
  readonly daysMax: number;
  /** Months in which the event can close, from 0; any month by default. */
  readonly months?: readonly number[];
  /** Moves the close to a realistic time, at or after the given one. */
  readonly moveClose?: (closeAt: number) => number;
}

/** Templates of events at arbitrary times. Events at dates of a calendar are in `calendar.ts`. */
const TEMPLATES: readonly TemplateEntry[] = [
  { template: createCoinPriceEvent, weight: 5, daysMin: 0, daysMax: 250 },
  { template: createTemperatureEvent, weight: 4, daysMin: 0.2, daysMax: 5 },
  { template: createRainEvent, weight: 3, daysMin: 0, daysMax: 7 },
  { template: createBasketballGameEvent, weight: 6, daysMin: 0, daysMax: 10, months: [9, 10, 11, 0, 1, 2, 3, 4, 5] },
  { template: createFootballMatchEvent, weight: 5, daysMin: 0, daysMax: 14, months: [7, 8, 9, 10, 11, 0, 1, 2, 3, 4] },
  { template: createParliamentSeatEvent, weight: 5, daysMin: 3, daysMax: 200, moveClose: nextElectionSunday },
  { template: createDeadlineEvent, weight: 7, daysMin: 0.5, daysMax: 250 },
];

/** An event, and when it closes. */
export interface DrawnEvent {
  readonly definition: EventDefinition;
  readonly closeAt: number;
}

/** Creates an event with a random template that is realistic for the duration and the season. */
export function drawEvent(input: TemplateInput): DrawnEvent {
  const days = (input.closeAt - input.openAt) / DAY_MS;
  const month = new Date(input.closeAt).getUTCMonth();
  const suitable = TEMPLATES.filter(
    ({ daysMin, daysMax, months }) => days >= daysMin && days <= daysMax && (months?.includes(month) ?? true),
  );
  let rest = draw(input, 24) * suitable.reduce((sum, entry) => sum + entry.weight, 0);
  const selected = suitable.find((entry) => {
    rest -= entry.weight;
    return rest < 0;
  });
  const closeAt = selected?.moveClose?.(input.closeAt) ?? input.closeAt;
  return { definition: instantiate(selected?.template ?? createDeadlineEvent, { ...input, closeAt }), closeAt };
}

/** Creates the event of a calendar date. */
export function createScheduledEvent(
  { template, openAt, closeAt }: ScheduledEvent,
  world: Pick<TemplateInput, "seed" | "underlying">,
): EventDefinition {
  return instantiate(template, { ...world, openAt, closeAt });
}

function instantiate(template: Template, input: TemplateInput): EventDefinition {
  return template(input, createDateTexts(input.closeAt));
}
