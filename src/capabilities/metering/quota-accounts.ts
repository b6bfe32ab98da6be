import { TIERS, type Tier } from "../../domain/plan.ts";
import type { QuotaSettlement } from "./quota-settlement.ts";
import { type AccountState, type Block, blocksOf } from "./quota-state.ts";
import type { QuotaAccount } from "./quota-store.ts";

const ACCOUNTS_MAX = 100_000;

/** The quota state of every account that this node has seen, held in memory. */
export class QuotaAccounts {
  /** By tier and customer id. */
  readonly #states: Readonly<Record<Tier, Map<string, AccountState>>> = {
    LISTING: new Map(),
    INSIGHT: new Map(),
    STRATEGY: new Map(),
    DEEP: new Map(),
  };
  readonly #settlement: QuotaSettlement;

  constructor(settlement: QuotaSettlement) {
    this.#settlement = settlement;
  }

  /** Returns the account's state and creates it if necessary. */
  get(account: QuotaAccount): AccountState {
    const ofTier = this.#states[account.tier];
    const existing = ofTier.get(account.customerId);
    if (existing !== undefined) return existing;
    if (ofTier.size >= ACCOUNTS_MAX) deleteEmpty(ofTier);
    const created = {
      account,
      currentBlock: null,
      reserveBlocks: [],
      grantedAt: Number.NEGATIVE_INFINITY,
      grantedMonth: "",
      blocksRequested: 1,
      prefetchAtUnits: 0,
      limit: 0,
      takenUnits: 0,
      usedAt: 0,
      exhausted: null,
      pendingGrant: null,
    };
    ofTier.set(account.customerId, created);
    return created;
  }

  all(): AccountState[] {
    return TIERS.flatMap((tier) => [...this.#states[tier].values()]);
  }

  ofCustomer(customerId: string): AccountState[] {
    return TIERS.flatMap((tier) => this.#states[tier].get(customerId) ?? []);
  }

  /** The first block with units left in the running month; ends used up and outdated blocks. Null when none is left. */
  usableBlock(state: AccountState, now: number): Block | null {
    for (;;) {
      const block = state.currentBlock;
      if (block !== null && block.spent < block.size && now < block.monthEndsAt) return block;
      this.#endCurrentBlock(state);
      state.currentBlock = state.reserveBlocks.shift() ?? null;
      if (state.currentBlock === null) return null;
    }
  }

  endAllBlocks(state: AccountState): void {
    this.#endCurrentBlock(state);
    for (let next = state.reserveBlocks.shift(); next !== undefined; next = state.reserveBlocks.shift()) {
      state.currentBlock = next;
      this.#endCurrentBlock(state);
    }
  }

  /** Closes the current block. Its spent units are final from here on. */
  #endCurrentBlock(state: AccountState): void {
    const block = state.currentBlock;
    if (block === null) return;
    state.currentBlock = null;
    block.isOpen = false;
    if (block.blockId !== null) this.#settlement.addEndedBlock(block);
    // The store counts a single unit as used from its grant on, so an unused one is released explicitly.
    else if (block.spent < block.size) this.#settlement.addReleasedUnit(state.account, block.month);
  }
}

function deleteEmpty(states: Map<string, AccountState>): void {
  for (const [customerId, state] of states)
    if (blocksOf(state).length === 0 && state.pendingGrant === null) states.delete(customerId);
}
