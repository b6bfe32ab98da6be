/** The run cannot have a result. The message is for clients. */
export class RunFailure extends Error {
  override readonly name = "RunFailure";
}

/** Another worker has taken the run over, or it has ended. This worker must not change it. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}
