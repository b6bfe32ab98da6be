import { VenueError } from "../../../src/domain/errors.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { HttpOut, IncomingResponse, OutgoingRequest } from "../../../src/ports/http-out.ts";

export interface ScriptedResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Duration of the response. Beyond the request's deadline it is a timeout. */
  readonly afterMs?: number;
}

/** An HTTP client with scripted responses. It records every request and its time. */
export class ScriptedHttp implements HttpOut {
  readonly requests: { readonly at: number; readonly request: OutgoingRequest }[] = [];
  inFlight = 0;
  inFlightMax = 0;
  readonly #clock: Clock;
  readonly #answer: (request: OutgoingRequest, turn: number) => ScriptedResponse | Error;

  constructor(clock: Clock, answer: (request: OutgoingRequest, turn: number) => ScriptedResponse | Error) {
    this.#clock = clock;
    this.#answer = answer;
  }

  async send(request: OutgoingRequest): Promise<IncomingResponse> {
    this.requests.push({ at: this.#clock.monotonic(), request });
    this.inFlight += 1;
    this.inFlightMax = Math.max(this.inFlightMax, this.inFlight);
    try {
      const answer = this.#answer(request, this.requests.length - 1);
      if (answer instanceof Error) throw answer;
      if (answer.afterMs !== undefined) {
        const isLate = answer.afterMs > request.deadlineMs;
        await this.#clock.sleep(Math.min(answer.afterMs, request.deadlineMs), request.signal).catch((cause) => {
          throw new VenueError("network", "given up", { retryable: false, cause });
        });
        if (isLate) throw new VenueError("timeout", "no answer", { retryable: true });
      }
      const { status = 200, headers = {}, body = "{}" } = answer;
      return { status, headers, body, receivedAt: this.#clock.now() };
    } finally {
      this.inFlight -= 1;
    }
  }
}
