import { setFlagsFromString } from "node:v8";
import { PGlite, type QueryOptions, type Results } from "@electric-sql/pglite";

/**
 * V8 compiles a function of WebAssembly at its first call with the baseline compiler. A function that is called often is
 * compiled again with the optimizing compiler if this flag was set at its first call.
 */
const setOptimizing = (isOptimizing: boolean) =>
  setFlagsFromString(isOptimizing ? "--wasm-dynamic-tiering" : "--no-wasm-dynamic-tiering");

// Without this flag, V8 would also optimize functions that were first called while the other flag was off.
setFlagsFromString("--no-wasm-tier-up");

/**
 * PGlite whose interpreter of SQL expressions is never optimized. The optimizing compiler needs 600 MB for this one
 * function, at every start (decision 25). The interpreter is first called by the first query, which PGlite sends when
 * it opens a store. If PGlite creates the store, it calls the interpreter earlier.
 */
export class LowMemoryPglite extends PGlite {
  #hasQueried = false;

  override async query<T>(text: string, parameters?: unknown[], options?: QueryOptions): Promise<Results<T>> {
    if (this.#hasQueried) return super.query<T>(text, parameters, options);
    this.#hasQueried = true;
    setOptimizing(false);
    try {
      return await super.query<T>(text, parameters, options);
    } finally {
      setOptimizing(true);
    }
  }
}
