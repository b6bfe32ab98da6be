import { AppError } from "../../../src/domain/errors.ts";
import { EVENTS_TOPIC, type EventLog, type EventType, type LoggedEvent } from "../../../src/event-log/index.ts";
import type { Bus } from "../../../src/ports/bus.ts";

const SCAN_IDS_MAX = 10_000;

/** An event log in memory. It pages like the real log, and the test controls its ids and its retention. */
export class MemoryEventLog implements Pick<EventLog, "readAfter" | "latestId" | "startOfNewest"> {
  /** Bus that `append` wakes. */
  bus: Pick<Bus, "publish"> | null = null;
  readonly events: LoggedEvent[] = [];
  lastId = 0;
  droppedThrough = 0;
  /** Reads wait for this promise. */
  hold: Promise<void> | null = null;
  isAvailable = true;
  reads = 0;
  concurrentReads = 0;
  concurrentReadsMax = 0;

  /** Appends an event and returns it. @param parts.gap  ids to skip before it */
  append(
    parts: {
      readonly type?: EventType;
      readonly marketId?: string | null;
      readonly gap?: number;
      readonly title?: string;
    } = {},
  ): LoggedEvent {
    const { type = "price_shift", marketId = "m1", gap = 0, title = "A market" } = parts;
    this.lastId += 1 + gap;
    const venue = marketId === null ? null : "alpha";
    const event = { id: this.lastId, type, occurredAt: 0, venue, marketId, payload: { title } };
    this.events.push(event);
    this.bus?.publish(EVENTS_TOPIC);
    return event;
  }

  dropThrough(id: number): void {
    this.droppedThrough = Math.max(this.droppedThrough, id);
  }

  async readAfter(after: number, { limit, filter = {} }: Parameters<EventLog["readAfter"]>[1]) {
    this.reads += 1;
    this.concurrentReads += 1;
    this.concurrentReadsMax = Math.max(this.concurrentReadsMax, this.concurrentReads);
    await this.hold;
    this.concurrentReads -= 1;
    if (!this.isAvailable) throw new AppError("store_unavailable", "unavailable");
    const from = Math.max(after, this.droppedThrough);
    const start = (this.events.find(({ id }) => id > from)?.id ?? this.lastId + 1) - 1;
    const { types, markets } = filter;
    const events = this.events
      .filter(({ id }) => id > start && id <= start + SCAN_IDS_MAX)
      .filter(({ type }) => types === undefined || types.includes(type))
      .filter((event) => markets === undefined || markets.some((market) => market.marketId === event.marketId))
      .slice(0, limit);
    const isFull = events.length >= limit;
    return {
      events,
      through: isFull ? (events.at(-1)?.id ?? start) : Math.min(this.lastId, start + SCAN_IDS_MAX),
      hasGap: after < this.droppedThrough || after > this.lastId,
      latestId: this.lastId,
    };
  }

  async latestId(): Promise<number> {
    if (!this.isAvailable) throw new AppError("store_unavailable", "unavailable");
    return this.lastId;
  }

  async startOfNewest(count: number): Promise<number> {
    const first = this.events.filter(({ id }) => id > this.droppedThrough).at(-count);
    return first === undefined ? this.droppedThrough : first.id - 1;
  }
}
