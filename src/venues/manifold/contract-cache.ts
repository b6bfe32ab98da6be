/** What only a full read of a contract tells and a list does not. */
export interface CachedContract {
  readonly rules: string | null;
  readonly category: string | null;
  /** Answers that have been resolved while their contract stays open; lists still show them like the others. */
  readonly settledAnswerIds: readonly string[];
}

const CONTRACTS_MAX = 5_000;

/** Notes on the contracts read in full most recently, so that a later list does not know less than we already do. */
export class ContractCache {
  readonly #notes = new Map<string, CachedContract>();

  get size(): number {
    return this.#notes.size;
  }

  find(contractId: string): CachedContract | null {
    return this.#notes.get(contractId) ?? null;
  }

  set(contractId: string, note: CachedContract): void {
    this.#notes.delete(contractId);
    this.#notes.set(contractId, note);
    if (this.#notes.size <= CONTRACTS_MAX) return;
    const oldest = this.#notes.keys().next();
    if (oldest.done !== true) this.#notes.delete(oldest.value);
  }
}
