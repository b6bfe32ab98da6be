import type { QuotaJournal } from "../../ports/quota-journal.ts";

/** Creates a journal that stores nothing, for a store in memory. */
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
