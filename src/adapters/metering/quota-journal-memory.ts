import type { QuotaJournal } from "../../ports/quota-journal.ts";

/** A journal that ends with the process: for a store in memory, which does the same. */
export function createMemoryQuotaJournal(): QuotaJournal {
  return {
    recovered: [],
    predecessor: null,
    clear() {},
    open: () => 0,
    write() {},
    committed: () => undefined,
    close() {},
    end() {},
  };
}
