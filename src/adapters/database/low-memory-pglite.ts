import { existsSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { PGlite, type PGliteOptions, type QueryOptions, type Results } from "@electric-sql/pglite";

/** File that PostgreSQL writes when it creates a store. */
const VERSION_FILE = "PG_VERSION";

/**
 * V8 compiles a function of WebAssembly at its first call with the baseline compiler. A function that is called often is
 * compiled again with the optimizing compiler if this flag was set at its first call.
 */
const setOptimizing = (isOptimizing: boolean) =>
  setFlagsFromString(isOptimizing ? "--wasm-dynamic-tiering" : "--no-wasm-dynamic-tiering");

/**
 * PGlite whose interpreter of SQL expressions is never optimized. The optimizing compiler needs 600 MB for this one
 * function, at every start (decision 25). The interpreter is first called by the first query, which PGlite sends when
 * it opens the store, or while a new store is created.
 */
class LowMemoryPglite extends PGlite {
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

/**
 * Opens or creates the store in `folder`, or creates one in memory if `folder` is null. It changes V8 flags of the
 * process: while a store is created, no WebAssembly module that is compiled is optimized.
 */
export async function openLowMemoryPglite(folder: string | null, options: PGliteOptions): Promise<PGlite> {
  // Without this flag, V8 would optimize every function of a module that was compiled while the other flag was off.
  setFlagsFromString("--no-wasm-tier-up");
  const isNew = folder === null || !existsSync(join(folder, VERSION_FILE));
  setOptimizing(!isNew);
  const engine = new LowMemoryPglite({ ...options, ...(folder === null ? {} : { dataDir: folder }) });
  try {
    await engine.waitReady;
    return engine;
  } finally {
    // A failed start sends no query.
    setOptimizing(true);
  }
}
