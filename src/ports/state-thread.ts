/**
 * One thread that keeps state in memory between requests. It is for work that would block the event loop and whose
 * state is too large to be sent with each request. Requests and responses are copied by structured clone.
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

export interface StateThreadModule<Request, Response> {
  /** Called once when the thread starts. If a request throws, the thread ends. */
  createHandler(): (request: Request) => Response;
}

/** Starts a thread for a module. `memoryMibMax` limits its heap. */
export type OpenStateThread = <Request, Response>(
  module: URL,
  options: { readonly memoryMibMax: number },
) => StateThread<Request, Response>;
