import { AsyncLocalStorage } from "node:async_hooks";

const callers = new AsyncLocalStorage<string>();

/** Runs `work`, and what it starts, for a caller: a customer, or the address of a client without an account. */
export function runForCaller<Result>(caller: string, work: () => Result): Result {
  return callers.run(caller, work);
}

/** The caller for whom this code runs; null for the service itself. */
export const currentCaller = (): string | null => callers.getStore() ?? null;

const SERVICE = "service";

/** The caller as a key of limits and turns. The service itself is one caller. */
export const currentCallerKey = (): string => currentCaller() ?? SERVICE;
