import { type EventType, formatEvent, type LoggedEvent } from "../../../event-log/index.ts";

const COUNT_MAX = 5_000;
const CHARACTERS_MAX = 16 * 1024 * 1024;

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

/** The newest events of the log in memory, in ascending order of ids, bounded by count and size. */
export class RecentEvents {
  #events: RecentEvent[] = [];
  #characters = 0;
  #floor = 0;
  #through = 0;

  /** All events with ids above `floor`, up to and including `through`, are in memory. */
  get floor(): number {
    return this.#floor;
  }

  get through(): number {
    return this.#through;
  }

  /** Removes all events. The next ones follow the id `position`. */
  reset(position: number): void {
    this.#events = [];
    this.#characters = 0;
    this.#floor = position;
    this.#through = position;
  }

  /** @param through  the last id that was read, at least the id of the last event */
  add(events: readonly LoggedEvent[], through: number): void {
    for (const event of events) {
      const recent = toRecentEvent(event);
      this.#events.push(recent);
      this.#characters += recent.body.length;
    }
    this.#through = through;
    let removed = 0;
    while (this.#events.length - removed > COUNT_MAX || this.#characters > CHARACTERS_MAX) {
      const { id, body } = this.#events[removed++] as RecentEvent;
      this.#characters -= body.length;
      this.#floor = id;
    }
    if (removed > 0) this.#events.splice(0, removed);
  }

  /** Returns at most `limit` events of these types after `position`, and the last id that was looked at. */
  find(
    position: number,
    types: readonly EventType[],
    limit: number,
  ): { readonly events: readonly RecentEvent[]; readonly through: number } {
    const found: RecentEvent[] = [];
    for (let index = this.#firstIndexAfter(position); index < this.#events.length; index++) {
      const event = this.#events[index] as RecentEvent;
      if (!types.includes(event.type)) continue;
      found.push(event);
      if (found.length === limit) return { events: found, through: event.id };
    }
    return { events: found, through: Math.max(position, this.#through) };
  }

  #firstIndexAfter(position: number): number {
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle] as RecentEvent).id <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
