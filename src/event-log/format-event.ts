import { encodeJson } from "../lib/round-numbers.ts";
import type { LoggedEvent } from "./model.ts";

/**
 * The JSON of an event as streams and webhooks send it: `id` (a decimal string that increases with every event),
 * `type`, `timestamp` (ISO 8601), and the fields of its payload. Numbers are rounded as in responses.
 */
export function formatEvent({ id, type, occurredAt, payload }: LoggedEvent): string {
  return encodeJson({ id: String(id), type, timestamp: new Date(occurredAt).toISOString(), ...payload });
}
