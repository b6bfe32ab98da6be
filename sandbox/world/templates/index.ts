import { DAY_MS } from "../../../src/lib/durations.ts";
import { nextElectionSunday, type ScheduledEvent } from "./calendar.ts";
import { createCoinPriceEvent } from "./crypto.ts";
import { createDeadlineEvent } from "./deadlines.ts";
import {
  createDateTexts,
  draw,
  type EventDefinition,
  separateTrap,
  type Template,
  type TemplateInput,
  type TrapDefinition,
} from "./event-definition.ts";
import { createParliamentSeatEvent } from "./politics.ts";
import { createBasketballGameEvent, createFootballMatchEvent } from "./sports.ts";
import { createRainEvent, createTemperatureEvent } from "./weather.ts";

export { listScheduledEvents, SCHEDULED_OPEN_MS_MAX, type ScheduledEvent } from "./calendar.ts";
export { createQuarterHourRound } from "./crypto.ts";
export {
  type EventDefinition,
  type TemplateInput,
  TRAP_KINDS,
  TRAP_NUMBER_OFFSET,
  type TrapDefinition,
  type TrapKind,
} from "./event-definition.ts";

interface TemplateEntry {
  readonly template: Template;
  /** Relative frequency. */
  readonly weight: number;
  /** Durations for which the template is realistic. */
  readonly daysMin: number;
  readonly daysMax: number;
  /** Months in which the event can close, from 0; any month by default. */
  readonly months?: readonly number[];
  /** Milliseconds until the next occurrence of the same question, which the `date` trap asks about. */
  readonly nextDateMs?: number;
  /** Moves the closing time to a realistic time at or after it. */
  readonly moveClose?: (closeAt: number) => number;
}

/** Templates of events at arbitrary times. Events at dates of a calendar are in `calendar.ts`. */
const TEMPLATES: readonly TemplateEntry[] = [
  { template: createCoinPriceEvent, weight: 5, daysMin: 0, daysMax: 250, nextDateMs: DAY_MS },
  { template: createTemperatureEvent, weight: 9, daysMin: 0.2, daysMax: 5, nextDateMs: DAY_MS },
  { template: createRainEvent, weight: 6, daysMin: 0, daysMax: 7, nextDateMs: DAY_MS },
  {
    template: createBasketballGameEvent,
    weight: 6,
    daysMin: 0,
    daysMax: 10,
    nextDateMs: 2 * DAY_MS,
    months: [9, 10, 11, 0, 1, 2, 3, 4, 5],
  },
  {
    template: createFootballMatchEvent,
    weight: 5,
    daysMin: 0,
    daysMax: 14,
    nextDateMs: 3 * DAY_MS,
    months: [7, 8, 9, 10, 11, 0, 1, 2, 3, 4],
  },
  {
    template: createParliamentSeatEvent,
    weight: 5,
    daysMin: 3,
    daysMax: 200,
    nextDateMs: 7 * DAY_MS,
    moveClose: nextElectionSunday,
  },
  { template: createDeadlineEvent, weight: 7, daysMin: 0.5, daysMax: 250 },
];

/** An event and its closing time. */
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
  const template = selected?.template ?? createDeadlineEvent;
  const definition = instantiate(template, { ...input, closeAt });
  const nextDateMs = selected?.nextDateMs;
  if (nextDateMs === undefined) return { definition, closeAt };
  const listTraps = (): TrapDefinition[] => {
    const nextCloseAt = closeAt + nextDateMs;
    const event = instantiate(template, { ...input, closeAt: nextCloseAt });
    return [{ ...separateTrap("date", event), closeAt: nextCloseAt }, ...(definition.traps?.() ?? [])];
  };
  return { definition: { ...definition, traps: listTraps }, closeAt };
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
