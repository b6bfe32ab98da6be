import type { FastifyInstance } from "fastify";
import { invalidValue } from "../../../domain/errors.ts";
import { parseMarketName } from "../../../domain/market-name.ts";
import { METERING } from "../../../domain/metering.ts";
import { EVENT_TYPES } from "../../../event-log/index.ts";
import type { Principal } from "../../../http/auth.ts";
import { sendDirect } from "../../../http/response/direct-body.ts";
import { defineRoute } from "../../../http/route.ts";
import type { VenueIds } from "../../../http/schema-types.ts";
import { createEventSchemas } from "./event-schema.ts";
import { eventTypeSet, marketNameOf } from "./frame.ts";
import { createStreamResponse, streamHeaders, streamQuery } from "./schema.ts";
import type { Streaming } from "./service.ts";
import type { StreamRequest } from "./stream-client.ts";

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
};

/** GET /v1/stream. Also documents the events that streams and webhooks send. */
export function streamRoutes(
  app: FastifyInstance,
  { streaming, venues: { trading: venues, all } }: { readonly streaming: Streaming; readonly venues: VenueIds },
): void {
  const { events: documentedEvents, streamEvent } = createEventSchemas(all);
  for (const [type, event] of Object.entries(documentedEvents)) app.documentedEvents.set(type, event);
  app.addHook("preClose", (done) => {
    streaming.endStreams();
    done();
  });

  defineRoute(app, {
    method: "GET",
    url: "/v1/stream",
    access: "key",
    metering: METERING.STREAM,
    tag: "Streaming",
    summary: "Stream events",
    description:
      "Sends events as they occur. The call counts once per connection. After an interruption, reconnect with the header `Last-Event-ID` to receive the missed events. The stream of a caller without an API key ends after an hour.",
    operationId: "stream_events",
    query: streamQuery,
    headers: streamHeaders,
    produces: ["text/event-stream"],
    responses: { 200: createStreamResponse(streamEvent) },
    errors: ["overloaded", "draining"],
    handler({ query, headers, principal, request, reply }) {
      const { events, market_ids: names } = query;
      const lastEventId = headers["last-event-id"] ?? query.last_event_id;
      const filter = {
        types: eventTypeSet(events === undefined || events.length === 0 ? EVENT_TYPES : events),
        markets: names === undefined || names.length === 0 ? null : parseNames(names, venues),
      };
      reply.headers(HEADERS);
      if (request.method === "HEAD") return reply.send("");
      const stream = streaming.open({
        ...identify(principal),
        address: request.ip,
        filter,
        lastEventId: lastEventId === undefined ? null : parseEventId(lastEventId),
      });
      return sendDirect(reply, stream);
    },
  });
}

function identify({ kind, keyId, customerId, plan }: Principal): Pick<StreamRequest, "caller" | "key"> {
  const key = kind === "customer" && keyId !== undefined ? { keyId, plan } : null;
  return { caller: key?.keyId ?? customerId, key };
}

function parseEventId(text: string): number {
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : Number.POSITIVE_INFINITY;
}

/** @throws InvalidRequestError if a name does not begin with a venue */
function parseNames(names: readonly string[], venues: readonly string[]): readonly string[] {
  return names.map((name) => {
    const parsed = parseMarketName(name, venues, null);
    if (parsed !== null && parsed.marketId !== "") return marketNameOf(parsed.venue, parsed.marketId);
    const reason = `a market must be platform/market_id, with a platform of ${venues.join(", ")}`;
    throw invalidValue(["query", "market_ids"], reason, name);
  });
}
