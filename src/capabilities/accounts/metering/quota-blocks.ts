import { TIERS, type Tier } from "../../../domain/plan.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { JournalEntry, QuotaJournal } from "../../../ports/quota-journal.ts";
import type { GrantedBlock, QuotaAccount, QuotaStore, ReleasedUnits } from "./quota-store.ts";

/** Duration of the lease on a quota block. A grant starts the lease, and each usage report of this node renews it. */
export const BLOCK_LEASE_MS = 30_000;
/** Interval at which the lease of a block without newly spent units is renewed. */
const LEASE_RENEWAL_MS = BLOCK_LEASE_MS / 3;
/** Maximum number of accounts per tier in memory. */
const ACCOUNTS_PER_TIER_MAX = 100_000;
const RELEASED_ACCOUNTS_MAX = 100_000;

export interface QuotaOptions {
  readonly store: QuotaStore;
  readonly journal: QuotaJournal;
  readonly clock: Clock;
  readonly log: Log;
  /** Unique for the lifetime of the process; never reused. */
  readonly nodeId: string;
}

/** Quota units that the store has granted to this node. */
export interface QuotaBlock extends GrantedBlock {
  /** Monotonic timestamp at which the month ends. */
  readonly monthEndsAt: number;
  /** Journal slot; null for a single unit. */
  readonly slot: number | null;
  spent: number;
  /** The spent units last reported to the store, and the monotonic timestamp of that report. */
  lastReport: { readonly spent: number; readonly at: number };
  /** Whether units can still be taken from the block and returned to it. */
  isOpen: boolean;
}

/** The units that this node holds for one account. */
export interface AccountUnits {
  readonly account: QuotaAccount;
  currentBlock: QuotaBlock | null;
  /** Blocks to use after the current block. Empty unless the account is busy. */
  readonly reserveBlocks: QuotaBlock[];
  /** Monotonic timestamp of the last grant. */
  grantedAt: number;
  /** Month of the last grant, for example "2026-11-01"; empty before the first grant. */
  grantedMonth: string;
  /** Number of blocks in the last request. */
  blocksRequested: number;
  /** A busy account requests more blocks when this many units remain, so that its calls do not wait for the store. */
  prefetchAtUnits: number;
  /** The limit at the last grant. */
  limit: number;
  /** Units of the month that were spent or granted to any node, as of the last grant. */
  takenUnits: number;
  /** Monotonic timestamp of the last unit taken. */
  usedAt: number;
  /** Set if the store had no units left. The store is not queried before `retryAt`. */
  exhaustion: { readonly retryAt: number; readonly monthEndsAt: number; readonly resetsOn: string } | null;
  /** The request for blocks in progress. */
  pendingGrant: Promise<void> | null;
}

/** The blocks of this node, by account. Reports spent units to the store and returns unused units. */
export class QuotaBlocks {
  readonly #options: QuotaOptions;
  /** By tier and customer id. */
  readonly #states: Readonly<Record<Tier, Map<string, AccountUnits>>> = {
    LISTING: new Map(),
    INSIGHT: new Map(),
    STRATEGY: new Map(),
    DEEP: new Map(),
  };
  /** Closed blocks not yet returned to the store. Their journal entries are kept until then. */
  readonly #endedBlocks = new Set<QuotaBlock>();
  /** Released units of closed blocks, not yet sent to the store, by account and month. */
  #releasedUnits = new Map<string, ReleasedUnits>();
  /** Released units that are being sent. If the response is lost, the next request repeats them with the same serial. */
  #sentUnits: ReadonlyMap<string, ReleasedUnits> = new Map();
  #releaseSerial = 0;
  #isReleaseScheduled = false;
  #lastExclusive: Promise<unknown> = Promise.resolve();

  constructor(options: QuotaOptions) {
    this.#options = options;
  }

  /** Runs settlement work one task at a time: two concurrent runs would close the same journal slot twice. */
  runExclusive(work: () => Promise<void>): Promise<void> {
    const result = this.#lastExclusive.then(work);
    this.#lastExclusive = result.catch(() => {});
    return result;
  }

  /** Resolves when all exclusive work and all pending grants have ended. Never rejects. */
  async waitUntilIdle(): Promise<void> {
    await this.#lastExclusive;
    await Promise.allSettled(this.allStates().map(({ pendingGrant }) => pendingGrant));
  }

  /** Returns the account's state and creates it if necessary. */
  stateOf(account: QuotaAccount): AccountUnits {
    const statesOfTier = this.#states[account.tier];
    const existingState = statesOfTier.get(account.customerId);
    if (existingState !== undefined) return existingState;
    if (statesOfTier.size >= ACCOUNTS_PER_TIER_MAX) deleteEmptyStates(statesOfTier);
    const newState = {
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
      exhaustion: null,
      pendingGrant: null,
    };
    statesOfTier.set(account.customerId, newState);
    return newState;
  }

  allStates(): AccountUnits[] {
    return TIERS.flatMap((tier) => [...this.#states[tier].values()]);
  }

  statesOfCustomer(customerId: string): AccountUnits[] {
    return TIERS.flatMap((tier) => this.#states[tier].get(customerId) ?? []);
  }

  /**
   * Closes used-up and outdated blocks. Returns the first block with units left in the current month, or null if none
   * is left.
   */
  findUsableBlock(state: AccountUnits, now: number): QuotaBlock | null {
    for (;;) {
      const block = state.currentBlock;
      if (block !== null && block.spent < block.size && now < block.monthEndsAt) return block;
      if (block !== null) this.closeBlock(state.account, block);
      state.currentBlock = state.reserveBlocks.shift() ?? null;
      if (state.currentBlock === null) return null;
    }
  }

  endAllBlocks(state: AccountUnits): void {
    for (const block of blocksOf(state)) this.closeBlock(state.account, block);
    state.currentBlock = null;
    state.reserveBlocks.length = 0;
  }

  /** Closes a block. Its spent units do not change afterwards. */
  closeBlock(account: QuotaAccount, block: QuotaBlock): void {
    block.isOpen = false;
    if (block.blockId !== null) this.#endedBlocks.add(block);
    // The store counts a single unit as used when it grants the unit, so an unused unit is released explicitly.
    else if (block.spent < block.size) this.#addReleasedUnit(account, block.month);
  }

  release(account: QuotaAccount, block: QuotaBlock): void {
    if (block.isOpen && block.blockId !== null && block.spent > 0) {
      block.spent -= 1;
      this.writeToJournal(block);
    } else {
      this.#addReleasedUnit(account, block.month);
      this.#scheduleRelease();
    }
  }

  writeToJournal({ blockId, slot, spent }: QuotaBlock): void {
    if (blockId !== null && slot !== null) this.#options.journal.write(slot, { blockId, spent });
  }

  #addReleasedUnit(account: QuotaAccount, month: string): void {
    const key = releaseKey(account, month);
    const units = (this.#releasedUnits.get(key)?.units ?? 0) + 1;
    if (units > 1 || this.#releasedUnits.size < RELEASED_ACCOUNTS_MAX)
      this.#releasedUnits.set(key, { account, month, units });
    else
      this.#options.log.error(
        { tier: account.tier },
        "quota unit lost: too many released units are waiting for the store",
      );
  }

  hasReleasedUnits(account: QuotaAccount, month: string): boolean {
    const key = releaseKey(account, month);
    return this.#releasedUnits.has(key) || this.#sentUnits.has(key);
  }

  /**
   * Sends released units to the store immediately, so that other nodes can use them. Units of one event-loop tick share
   * a request.
   */
  #scheduleRelease(): void {
    if (this.#isReleaseScheduled) return;
    this.#isReleaseScheduled = true;
    const sendAll = () => {
      this.#isReleaseScheduled = false;
      return this.sendReleasedUnits();
    };
    // After a failure, the next maintenance run sends the units.
    this.#options.clock
      .yieldToEventLoop()
      .then(() => this.runExclusive(sendAll))
      .catch(() => {});
  }

  /** Returns closed blocks and released units to the store. */
  async settle(): Promise<void> {
    const blocks = [...this.#endedBlocks];
    if (blocks.length > 0) {
      await this.#options.store.returnBlocks(this.#options.nodeId, blocks.map(journalEntryOf));
      for (const block of blocks) {
        if (block.slot !== null) this.#options.journal.close(block.slot);
        this.#endedBlocks.delete(block);
      }
    }
    await this.sendReleasedUnits();
  }

  async sendReleasedUnits(): Promise<void> {
    while (this.#sentUnits.size > 0 || this.#releasedUnits.size > 0) {
      if (this.#sentUnits.size === 0) {
        this.#sentUnits = this.#releasedUnits;
        this.#releasedUnits = new Map();
        this.#releaseSerial += 1;
      }
      await this.#options.store.releaseUnits(this.#options.nodeId, this.#releaseSerial, [...this.#sentUnits.values()]);
      this.#sentUnits = new Map();
    }
  }

  /** Reports spent units of open blocks and renews the leases. */
  async reportSpentUnits(states: readonly AccountUnits[]): Promise<void> {
    const now = this.#options.clock.monotonic();
    const blocks = states
      .flatMap(blocksOf)
      .filter(
        ({ blockId, spent, lastReport }) =>
          blockId !== null && (spent !== lastReport.spent || now - lastReport.at >= LEASE_RENEWAL_MS),
      );
    if (blocks.length === 0) return;
    const entries = blocks.map(journalEntryOf);
    await this.#options.store.renewBlocks(entries, BLOCK_LEASE_MS);
    for (const [index, block] of blocks.entries()) block.lastReport = { spent: entries[index]?.spent ?? 0, at: now };
  }

  /** Returns blocks that the store granted to this node in a response that was lost. */
  async returnUnreceivedBlocks(): Promise<void> {
    const expiredBlocks = await this.#options.store.findExpiredBlocks(this.#options.nodeId);
    if (expiredBlocks.length === 0) return;
    const states = this.allStates();
    const knownBlockIds = new Set([...this.#endedBlocks, ...states.flatMap(blocksOf)].map(({ blockId }) => blockId));
    // The response to a pending grant may still deliver the block.
    const pendingAccounts = new Set(
      states.flatMap((state) => (state.pendingGrant === null ? [] : accountKey(state.account))),
    );
    const unreceivedBlocks = expiredBlocks.filter(
      (block) => !knownBlockIds.has(block.blockId) && !pendingAccounts.has(accountKey(block)),
    );
    await this.#options.store.returnBlocks(
      this.#options.nodeId,
      unreceivedBlocks.map(({ blockId }) => ({ blockId, spent: 0 })),
    );
  }
}

export function blocksOf({ currentBlock, reserveBlocks }: AccountUnits): readonly QuotaBlock[] {
  return currentBlock === null ? reserveBlocks : [currentBlock, ...reserveBlocks];
}

function deleteEmptyStates(states: Map<string, AccountUnits>): void {
  for (const [customerId, state] of states)
    if (blocksOf(state).length === 0 && state.pendingGrant === null) states.delete(customerId);
}

/** @throws Error for a single unit: it has no block id and is never reported */
function journalEntryOf({ blockId, spent }: QuotaBlock): JournalEntry {
  if (blockId === null) throw new Error("a single unit is settled when it is taken");
  return { blockId, spent };
}

const accountKey = ({ customerId, tier }: QuotaAccount) => `${tier} ${customerId}`;
const releaseKey = (account: QuotaAccount, month: string) => `${month} ${accountKey(account)}`;
