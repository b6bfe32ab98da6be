import { RECENT_EVENT_CHARACTERS_MAX, RECENT_EVENTS_MAX } from "../../../domain/webhook-limits.ts";
import { type EventType, formatEvent, type LoggedEvent, NewestEvents } from "../../../event-log/index.ts";

/** An event with its body, which is formatted once for all webhooks. */
export interface RecentEvent {
  readonly id: number;
  readonly type: EventType;
  readonly body: string;
}

export const toRecentEvent = (event: LoggedEvent): RecentEvent => ({
  id: event.id,
  type: event.type,
  body: formatEvent(event),
});

/** The newest events of the log in memory. */
export class RecentEvents extends NewestEvents<RecentEvent> {
  constructor() {
    super({ countMax: RECENT_EVENTS_MAX, sizeMax: RECENT_EVENT_CHARACTERS_MAX, sizeOf: ({ body }) => body.length });
  }

  /** Returns at most `limit` events of these types after `position`, and the id of the last examined event. */
  find(
    position: number,
    types: readonly EventType[],
    limit: number,
  ): { readonly events: readonly RecentEvent[]; readonly through: number } {
    const isOfTypes = ({ type }: RecentEvent) => types.includes(type);
    const events = [...this.after(position).filter(isOfTypes).take(limit)];
    const isFull = events.length === limit;
    return { events, through: (isFull ? events.at(-1)?.id : null) ?? Math.max(position, this.through) };
  }
}
