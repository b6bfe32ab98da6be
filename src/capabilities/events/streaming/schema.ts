import Type, { type TSchema } from "typebox";
import { EVENT_TYPES } from "../../../event-log/index.ts";
import { commaList, commaListOf, emptyIsAbsent } from "../../../http/validation/index.ts";

const MARKETS_MAX = 50;
const MARKET_NAME_LENGTH_MAX = 600;
const EVENT_ID_PATTERN = "^[0-9]{1,20}$";

const eventId = (description: string) =>
  Type.Optional(emptyIsAbsent(Type.String({ pattern: EVENT_ID_PATTERN, description })));

export const streamQuery = Type.Object({
  events: Type.Optional(commaList(EVENT_TYPES, { description: "Event types to receive; all by default." })),
  market_ids: Type.Optional(
    commaListOf(Type.String({ minLength: 1, maxLength: MARKET_NAME_LENGTH_MAX }), {
      maxItems: MARKETS_MAX,
      description: "Markets whose events to receive, as `platform/market_id`; all by default.",
    }),
  ),
  last_event_id: eventId(
    "Id of the last received event: the stream continues with the next one. The header `Last-Event-ID` takes precedence.",
  ),
});

export const streamHeaders = Type.Object({
  "last-event-id": eventId("Id of the last received event, which an EventSource sends when it reconnects."),
});

/** @param streamEvent  schema of the `data` of an event */
export const createStreamResponse = (streamEvent: TSchema) =>
  Type.String({
    contentMediaType: "text/event-stream",
    contentSchema: streamEvent,
    description:
      "Server-Sent Events. Each event has its `id`, its type as `event`, and JSON as `data`, whose schema is `contentSchema`. An event `reset` says that events were missed. A comment follows every 15 seconds.",
  });
