import { AsyncLocalStorage } from "node:async_hooks";
import { deleteOldest } from "./delete-oldest.ts";

const callers = new AsyncLocalStorage<string>();

type RunInContext = <Result>(work: () => Result) => Result;

/** Maximum number of contexts in memory. Above it, the oldest is deleted. */
const CONTEXTS_MAX = 1_000;
/** The contexts of up to 1,000 callers, because entering one again costs less than creating one for each request. */
const contexts = new Map<string, RunInContext>();

/** Runs `work` on behalf of a caller: a customer, or the address of a client without an account. */
export function runForCaller<Result>(caller: string, work: () => Result): Result {
  const known = contexts.get(caller);
  if (known !== undefined) return known(work);
  const context: RunInContext = callers.run(caller, () => AsyncLocalStorage.snapshot());
  contexts.set(caller, context);
  deleteOldest(contexts, CONTEXTS_MAX);
  return context(work);
}

/** Returns the caller on whose behalf the current code runs; null for the service itself. */
export const currentCaller = (): string | null => callers.getStore() ?? null;

const SERVICE = "service";

/** Returns the current caller as a key for limits. The service itself is one caller. */
export const currentCallerKey = (): string => currentCaller() ?? SERVICE;
