/**
 * What happened, for streams and webhooks: an append-only log written in the transactions of what it tells of, and a way
 * to follow it. Nothing is sent that is not in the log.
 */
export { appendEvents, createEventLog, EVENTS_TOPIC, type EventLog } from "./event-log.ts";
export { followEvents } from "./follow-events.ts";
export type { EventFilter, NewEvent } from "./model.ts";
