import type { LoggedEvent } from "./model.ts";

/**
 * The JSON of an event as streams and webhooks send it: `id` (a decimal string that increases with every event), `type`,
 * `timestamp` (ISO 8601), and the fields of its payload.
 */
export function formatEvent({ id, type, occurredAt, payload }: LoggedEvent): string {
  return JSON.stringify({ id: String(id), type, timestamp: new Date(occurredAt).toISOString(), ...payload });
}
