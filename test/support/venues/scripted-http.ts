import { VenueError } from "../../../src/domain/errors.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { HttpOut, IncomingResponse, OutgoingRequest } from "../../../src/ports/http-out.ts";

export interface ScriptedResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Response time. A longer time than the request's deadline causes a timeout. */
  readonly afterMs?: number;
}

/** An HTTP client with scripted responses. It records every request with its time. */
export class ScriptedHttp implements HttpOut {
  readonly requests: { readonly at: number; readonly request: OutgoingRequest }[] = [];
  inFlight = 0;
  inFlightMax = 0;
  readonly #clock: Clock;
  readonly #respond: (request: OutgoingRequest, index: number) => ScriptedResponse | Error;

  constructor(clock: Clock, respond: (request: OutgoingRequest, index: number) => ScriptedResponse | Error) {
    this.#clock = clock;
    this.#respond = respond;
  }

  async send(request: OutgoingRequest): Promise<IncomingResponse> {
    this.requests.push({ at: this.#clock.monotonic(), request });
    this.inFlight += 1;
    this.inFlightMax = Math.max(this.inFlightMax, this.inFlight);
    try {
      const response = this.#respond(request, this.requests.length - 1);
      if (response instanceof Error) throw response;
      if (response.afterMs !== undefined) {
        const isTimeout = response.afterMs > request.deadlineMs;
        await this.#clock.sleep(Math.min(response.afterMs, request.deadlineMs), request.signal).catch((cause) => {
          throw new VenueError("network", "request aborted", { retryable: false, cause });
        });
        if (isTimeout) throw new VenueError("timeout", "no response", { retryable: true });
      }
      const { status = 200, headers = {}, body = "{}" } = response;
      return { status, headers, body, receivedAt: this.#clock.now() };
    } finally {
      this.inFlight -= 1;
    }
  }
}
