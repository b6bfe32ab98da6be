/**
 * Append-only event log for streams and webhooks. Events are written in the transaction of the change they describe,
 * and streams and webhooks send only events from the log.
 */
export {
  appendEvents,
  createEventLog,
  EVENTS_TOPIC,
  type EventLog,
  followEvents,
  formatEvent,
  NewestEvents,
  selectEventsByKey,
  startEpoch,
} from "./event-log.ts";
export { EVENT_TYPES, type EventPage, type EventType, type LoggedEvent, type NewEvent } from "./model.ts";
