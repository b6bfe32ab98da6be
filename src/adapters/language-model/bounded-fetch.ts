import { fetch as undiciFetch } from "undici";
import { createLimitedAgent } from "../network/response-limits.ts";

export type Fetch = typeof globalThis.fetch;

/** Maximum size of a response. A response of 10,000 tokens has about 50 kB. */
const RESPONSE_BYTES_MAX = 1_048_576;

/** Creates a `fetch` whose responses have the limits of `response-limits.ts`. */
export function createLimitedFetch(): Fetch {
  const { dispatcher } = createLimitedAgent();
  // The types of Node and of undici describe the same functions, but are not compatible.
  const fetch = undiciFetch as unknown as (input: unknown, init: object) => ReturnType<Fetch>;
  return (input, init) => fetch(input, { ...init, dispatcher });
}

/**
 * Wraps `fetch`. Redirects are not followed, because a redirect would send the key to another server. A response longer
 * than 1 MiB is aborted.
 */
export function boundResponses(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "error" });
    if (response.body === null) return response;
    let bytes = 0;
    const bounded = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.byteLength;
          if (bytes > RESPONSE_BYTES_MAX) controller.error(new Error("The response is too long."));
          else controller.enqueue(chunk);
        },
      }),
    );
    return new Response(bounded, { status: response.status, headers: response.headers });
  };
}
