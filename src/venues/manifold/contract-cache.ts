/** Fields that a single contract has and a listing does not. */
export interface CachedContract {
  readonly rules: string | null;
  readonly category: string | null;
  /** Resolved answers of an open contract, which listings do not mark as resolved. */
  readonly settledAnswerIds: readonly string[];
}

const CONTRACTS_MAX = 5_000;

/** The contracts fetched most recently, to complete the rows of later listings. */
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
