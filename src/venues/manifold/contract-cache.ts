/** Contract fields that listing rows do not include. */
export interface CachedContract {
  readonly rules: string | null;
  readonly category: string | null;
  /** Ids of resolved answers of an open contract, which listing rows do not mark as resolved. */
  readonly settledAnswerIds: readonly string[];
  /** Whether the answers are mutually exclusive; null if unknown or if there are none. */
  readonly sumsToOne: boolean | null;
}

const CONTRACTS_MAX = 5_000;

/** Stores the most recently fetched contracts, whose fields complete the rows of listings. */
export class ContractCache {
  readonly #contracts = new Map<string, CachedContract>();

  find(contractId: string): CachedContract | null {
    return this.#contracts.get(contractId) ?? null;
  }

  set(contractId: string, contract: CachedContract): void {
    this.#contracts.delete(contractId);
    this.#contracts.set(contractId, contract);
    if (this.#contracts.size <= CONTRACTS_MAX) return;
    const oldest = this.#contracts.keys().next();
    if (oldest.done !== true) this.#contracts.delete(oldest.value);
  }
}
