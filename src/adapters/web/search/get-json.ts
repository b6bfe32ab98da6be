import { isObject } from "../../../lib/is-object.ts";
import type { HttpOut, OutgoingRequest } from "../../../ports/http-out.ts";

const RESPONSE_BYTES_MAX = 1_048_576;
const TIME_MS_MAX = 8_000;

/**
 * Requests JSON of a search engine.
 *
 * @throws Error if the request fails, the status is not 200, or the body is not JSON
 */
export async function getJson(
  http: HttpOut,
  request: Pick<OutgoingRequest, "url" | "headers" | "method" | "body">,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await http.send({ ...request, deadlineMs: TIME_MS_MAX, maxBodyBytes: RESPONSE_BYTES_MAX, signal });
  if (response.status !== 200) throw new Error(`The search engine answered with status ${response.status}.`);
  return JSON.parse(response.body);
}

/** Returns the array at a path of object keys; empty if there is no array. */
export function arrayAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  let current = value;
  for (const key of path) {
    if (!isObject(current)) return [];
    current = current[key];
  }
  return Array.isArray(current) ? current : [];
}

/** Returns the string in a field of an object; null if there is no string. */
export function textAt(value: unknown, key: string): string | null {
  const field = isObject(value) ? value[key] : null;
  return typeof field === "string" ? field : null;
}
