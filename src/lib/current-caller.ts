import { AsyncLocalStorage } from "node:async_hooks";

const callers = new AsyncLocalStorage<string>();

/** Runs `work` on behalf of a caller: a customer, or the address of a client without an account. */
export const runForCaller = <Result>(caller: string, work: () => Result): Result => callers.run(caller, work);

/** Returns the caller on whose behalf the current code runs; null for the service itself. */
export const currentCaller = (): string | null => callers.getStore() ?? null;

const SERVICE = "service";

/** Returns the current caller as a key for limits. The service itself is one caller. */
export const currentCallerKey = (): string => currentCaller() ?? SERVICE;
