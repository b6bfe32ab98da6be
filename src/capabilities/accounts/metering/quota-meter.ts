import { AppError } from "../../../domain/errors.ts";
import type { Charge, QuotaRejection } from "../../../domain/metering.ts";
import { PeriodicJob } from "../../../lib/periodic-job.ts";
import {
  type AccountUnits,
  BLOCK_LEASE_MS,
  blocksOf,
  type QuotaBlock,
  QuotaBlocks,
  type QuotaOptions,
} from "./quota-blocks.ts";
import type { GrantedBlock, QuotaAccount } from "./quota-store.ts";

/** Number of units in one block. */
const BLOCK_UNITS_MAX = 64;
/** If fewer units than this remain, the store grants one unit at a time, so that no unit is reserved unused by another node. */
const SINGLE_UNIT_GRANTS_BELOW_UNITS = 128;
/** If an account uses up its units in less time than this, the next request is for twice as many blocks. */
const BUSY_ACCOUNT_MS = 1_000;
/** Maximum number of blocks per request: 2,048 units. */
const BLOCKS_PER_REQUEST_MAX = 32;
const MAINTENANCE_INTERVAL_MS = 1_000;
/** Time without calls after which an account's blocks are returned to the store, so that other nodes can use them. */
const IDLE_ACCOUNT_MS = 3_000;
/** Delay before the store is queried again after it had no units left. */
const EXHAUSTION_RETRY_MS = 250;
/** Delay before blocks are requested again after a journal failure, because a block without a journal slot is unusable. */
const JOURNAL_RETRY_MS = 1_000;

/** One spent unit of a block. */
export class QuotaCharge implements Charge {
  readonly isAllowed = true;
  readonly block: QuotaBlock;
  readonly resetsInMs: number;
  /** Unused units in blocks of other nodes count as used. */
  remaining: number;
  readonly #account: QuotaAccount;
  #blocks: QuotaBlocks | null;

  constructor(blocks: QuotaBlocks, account: QuotaAccount, block: QuotaBlock, remaining: number, resetsInMs: number) {
    this.#blocks = blocks;
    this.#account = account;
    this.block = block;
    this.remaining = remaining;
    this.resetsInMs = resetsInMs;
  }

  get month(): string {
    return this.block.month;
  }

  release(): void {
    if (this.#blocks === null) return;
    this.#blocks.release(this.#account, this.block);
    this.#blocks = null;
    this.remaining += 1;
  }
}

type QuotaDecision = QuotaCharge | QuotaRejection;

/** Counts calls against the monthly quota exactly. Most calls need no query, because the store grants units in blocks. */
export class QuotaMeter {
  readonly #options: QuotaOptions;
  readonly #blocks: QuotaBlocks;
  #journalRetryAt = 0;
  readonly #job: PeriodicJob;
  #isStopped = false;

  constructor(options: QuotaOptions) {
    this.#options = options;
    this.#blocks = new QuotaBlocks(options);
    this.#job = new PeriodicJob({
      clock: options.clock,
      delayMs: MAINTENANCE_INTERVAL_MS,
      intervalMs: MAINTENANCE_INTERVAL_MS,
      run: () => this.#blocks.runExclusive(() => this.#maintain()),
      onFailure(error, failures) {
        // Nothing is lost: blocks stay in use and unsettled counts stay in the journal.
        if (failures === 1) options.log.warn({ err: error }, "quota settlement failed; retrying");
      },
    });
  }

  /** Returns the unused units of the previous process to the store. Must resolve before the first `take`. */
  async start(): Promise<void> {
    const { predecessor, recovered } = this.#options.journal;
    // Blocks that were granted to the previous process and are missing from its journal are unspent.
    if (predecessor !== null) await this.#options.store.returnBlocksOfDeadNode(predecessor, recovered);
    this.#options.journal.clear(this.#options.nodeId);
    this.#job.start();
  }

  /** Returns unused units to the store. If the store is unavailable, the counts stay in the journal for the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#job.stop();
    await this.#blocks.waitUntilIdle();
    try {
      await this.#blocks.runExclusive(() => this.#maintain());
    } catch (error) {
      this.#options.log.warn({ err: error }, "unused quota was not returned; the next start of this node returns it");
    }
    this.#options.journal.end();
  }

  /**
   * Takes one unit of the monthly `limit`.
   *
   * @throws AppError `store_unavailable` (also as a rejection) when a block is needed and cannot be granted or recorded
   */
  take(account: QuotaAccount, limit: number): Promise<QuotaDecision> | QuotaDecision {
    const state = this.#blocks.stateOf(account);
    const decision = this.#takeFromMemory(state, limit);
    if (decision === null) return this.#takeSlowly(state, limit).then((charge) => this.#waitForCommit(charge));
    return this.#waitForCommit(decision);
  }

  /** Units used this month, by tier, including units just spent on this node. */
  async usage(customerId: string) {
    const states = this.#blocks.statesOfCustomer(customerId);
    await this.#blocks.runExclusive(async () => {
      await this.#blocks.settle();
      await this.#blocks.reportSpentUnits(states);
    });
    const { used: stored, resetsOn } = await this.#options.store.usage(customerId);
    const used = { LISTING: 0, INSIGHT: 0, STRATEGY: 0, DEEP: 0, ...stored };
    // The store counts single units as used; units still unspent on this node are subtracted.
    for (const state of states)
      for (const { blockId, size, spent } of blocksOf(state))
        if (blockId === null) used[state.account.tier] -= size - spent;
    return { used, resetsOn };
  }

  /** Returns the charge, or null if this node holds no unit for the account. */
  #takeFromMemory(state: AccountUnits, limit: number): QuotaDecision | null {
    if (limit < state.limit) return null;
    const now = this.#options.clock.monotonic();
    const block = this.#blocks.findUsableBlock(state, now);
    if (block === null) return null;
    block.spent += 1;
    this.#blocks.writeToJournal(block);
    state.usedAt = now;
    let unspent = block.size - block.spent;
    for (const { size } of state.reserveBlocks) unspent += size;
    if (state.blocksRequested > 1 && unspent === state.prefetchAtUnits) this.#requestBlocks(state, limit);
    const remaining = Math.max(0, limit - state.takenUnits) + unspent;
    return new QuotaCharge(this.#blocks, state.account, block, remaining, block.monthEndsAt - now);
  }

  /** Waits until the journal has stored the unit, so that a served call is still counted after a crash. */
  #waitForCommit(decision: QuotaDecision): Promise<QuotaDecision> | QuotaDecision {
    // The store already counts a single unit as spent.
    if (!decision.isAllowed || decision.block.slot === null) return decision;
    return (
      this.#options.journal.committed()?.then(
        () => decision,
        (error: unknown) => {
          decision.release();
          throw error;
        },
      ) ?? decision
    );
  }

  async #takeSlowly(state: AccountUnits, limit: number): Promise<QuotaDecision> {
    for (;;) {
      const decision = this.#takeFromMemory(state, limit);
      if (decision !== null) return decision;
      if (this.#isStopped) throw new AppError("draining", "Shutting down");
      if (limit < state.limit) {
        // The limit was lowered: return the units granted under the old limit and request new ones.
        this.#blocks.endAllBlocks(state);
        await this.#blocks.runExclusive(() => this.#blocks.settle());
        state.limit = limit;
      }
      const { exhaustion, takenUnits: used } = state;
      const now = this.#options.clock.monotonic();
      if (exhaustion !== null && now < exhaustion.retryAt) {
        const { monthEndsAt, resetsOn } = exhaustion;
        return { isAllowed: false, used, resetsInMs: Math.max(0, monthEndsAt - now), resetsOn };
      }
      this.#requestBlocks(state, limit);
      await state.pendingGrant;
    }
  }

  #requestBlocks(state: AccountUnits, limit: number): void {
    state.pendingGrant ??= this.#fetchBlocks(state, limit).finally(() => {
      state.pendingGrant = null;
    });
    // No caller waits for a prefetch, so its error is ignored. The next call without units sends a new request.
    state.pendingGrant.catch(() => {});
  }

  async #fetchBlocks(state: AccountUnits, limit: number): Promise<void> {
    if (this.#options.clock.monotonic() < this.#journalRetryAt) throw createCannotCountError();
    // The only units left may be those that are still being returned to the store.
    if (this.#blocks.hasReleasedUnits(state.account, state.grantedMonth))
      await this.#blocks.runExclusive(() => this.#blocks.sendReleasedUnits());
    const isBusy = this.#options.clock.monotonic() - state.grantedAt < BUSY_ACCOUNT_MS;
    state.blocksRequested = isBusy ? Math.min(BLOCKS_PER_REQUEST_MAX, 2 * state.blocksRequested) : 1;
    const { blocks, takenUnits, monthEndsInMs, resetsOn } = await this.#options.store.takeBlocks(state.account, {
      limit,
      nodeId: this.#options.nodeId,
      leaseMs: BLOCK_LEASE_MS,
      sizeMax: BLOCK_UNITS_MAX,
      singleUnitsBelow: SINGLE_UNIT_GRANTS_BELOW_UNITS,
      blocks: state.blocksRequested,
    });
    const now = this.#options.clock.monotonic();
    const monthEndsAt = now + monthEndsInMs;
    state.takenUnits = takenUnits;
    state.limit = limit;
    if (blocks.length === 0) {
      state.exhaustion = { retryAt: Math.min(now + EXHAUSTION_RETRY_MS, monthEndsAt), monthEndsAt, resetsOn };
      return;
    }
    state.usedAt = now;
    state.grantedAt = now;
    state.grantedMonth = blocks[0]?.month ?? "";
    state.prefetchAtUnits = Math.max(BLOCK_UNITS_MAX, (blocks.length * BLOCK_UNITS_MAX) / 2);
    for (const granted of blocks) {
      const slot = this.#openJournalSlot(granted);
      const block = { ...granted, monthEndsAt, slot, spent: 0, lastReport: { spent: 0, at: now }, isOpen: true };
      if (granted.blockId === null || slot !== null) state.reserveBlocks.push(block);
      else this.#blocks.closeBlock(state.account, block);
    }
    if (state.reserveBlocks.length === 0) throw createCannotCountError();
  }

  /** Returns the journal slot of the block, or null if the journal fails or is full, or for a single unit. */
  #openJournalSlot({ blockId }: GrantedBlock): number | null {
    if (blockId === null) return null;
    const now = this.#options.clock.monotonic();
    if (now < this.#journalRetryAt) return null;
    try {
      const slot = this.#options.journal.open(blockId);
      if (slot !== null) return slot;
      this.#options.log.error({}, "the quota journal is full: too many customers are active simultaneously");
    } catch (error) {
      this.#options.log.error({ err: error }, "the quota journal cannot be written");
    }
    this.#journalRetryAt = now + JOURNAL_RETRY_MS;
    return null;
  }

  /** Reports spent units, returns idle and outdated blocks, and deletes expired blocks of dead nodes. */
  async #maintain(): Promise<void> {
    const now = this.#options.clock.monotonic();
    for (const state of this.#blocks.allStates()) {
      const [firstBlock] = blocksOf(state);
      const isMonthOver = firstBlock !== undefined && now >= firstBlock.monthEndsAt;
      if (isMonthOver || now - state.usedAt > IDLE_ACCOUNT_MS || this.#isStopped) this.#blocks.endAllBlocks(state);
    }
    await this.#blocks.settle();
    await this.#blocks.reportSpentUnits(this.#blocks.allStates());
    if (this.#isStopped) return;
    await this.#blocks.returnUnreceivedBlocks();
    await this.#options.store.sweep();
  }
}

const createCannotCountError = () => new AppError("store_unavailable", "Calls cannot be counted at the moment.");
