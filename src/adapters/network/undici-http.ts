import { Agent, request } from "undici";
import { VenueError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import { CONNECTIONS_PER_HOST_MAX, type HttpOut, type IncomingResponse } from "../../ports/http-out.ts";

const USER_AGENT = "parallax/1.0";

/**
 * Creates an HTTP client with a keep-alive pool per host. Does not follow redirects. Bounds the size and time of each
 * response.
 */
export function createUndiciHttp(clock: Clock): HttpOut & { close(): Promise<void> } {
  const agent = new Agent({ connections: CONNECTIONS_PER_HOST_MAX, connect: { timeout: 10_000 } });
  return {
    async send(outgoing): Promise<IncomingResponse> {
      const deadline = AbortSignal.timeout(outgoing.deadlineMs);
      const signal = outgoing.signal === undefined ? deadline : AbortSignal.any([deadline, outgoing.signal]);
      try {
        const response = await request(outgoing.url, {
          dispatcher: agent,
          method: outgoing.method,
          headers: { "user-agent": USER_AGENT, ...outgoing.headers },
          body: outgoing.body ?? null,
          signal,
        });
        const receivedAt = clock.now();
        const chunks: Buffer[] = [];
        let size = 0;
        for await (const chunk of response.body) {
          const bytes = chunk as Buffer;
          size += bytes.length;
          if (size > outgoing.maxBodyBytes) {
            response.body.destroy();
            throw new VenueError("bad_body", `body over ${outgoing.maxBodyBytes} bytes`, { retryable: false });
          }
          chunks.push(bytes);
        }
        const headers: Record<string, string> = {};
        for (const [name, value] of Object.entries(response.headers)) {
          if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
        }
        // Responses often arrive together and take long to parse, so other events are processed between them.
        await clock.yieldToEventLoop();
        return { status: response.statusCode, headers, body: Buffer.concat(chunks).toString("utf8"), receivedAt };
      } catch (cause) {
        if (cause instanceof VenueError) throw cause;
        const host = new URL(outgoing.url).host;
        if (deadline.aborted)
          throw new VenueError("timeout", `${host} did not respond within ${outgoing.deadlineMs} ms`, {
            retryable: true,
            cause,
          });
        throw new VenueError("network", `${host} could not be reached`, {
          retryable: outgoing.signal?.aborted !== true,
          cause,
        });
      }
    },
    // Aborts pending requests, so that an unresponsive host does not delay the shutdown.
    close: () => agent.destroy(),
  };
}
