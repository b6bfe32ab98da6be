/**
 * One thread that keeps its state in memory from request to request, for work that is too long for the event loop and
 * too large to be sent each time. Requests and responses are values that can be cloned.
 */
export interface StateThread<Request, Response> {
  /**
   * Sends a request and returns the response. Await it before the next request.
   *
   * @throws Error if the thread has ended, runs out of memory, fails, or does not respond in time. Its state is then
   *   lost.
   */
  request(request: Request): Promise<Response>;
  /** Ends the thread. A request without a response fails. */
  close(): Promise<void>;
}

/** The exports of a module for state threads. */
export interface StateThreadModule<Request, Response> {
  /** Called once when the thread starts. If a request throws, the thread ends. */
  createHandler(): (request: Request) => Response;
}

/** Starts a thread for a module. `memoryMibMax` limits its heap. */
export type OpenStateThread = <Request, Response>(
  module: URL,
  options: { readonly memoryMibMax: number },
) => StateThread<Request, Response>;
