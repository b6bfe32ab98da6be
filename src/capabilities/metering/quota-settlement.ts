import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { QuotaJournal } from "../../ports/quota-journal.ts";
import { type AccountState, type Block, blocksOf, journalEntryOf } from "./quota-state.ts";
import type { QuotaAccount, QuotaStore, ReleasedUnits } from "./quota-store.ts";

/** How long the store reserves a block for this node after a grant or a report. */
export const LEASE_MS = 30_000;
/** A block without newly spent units is reported only this often, well before its lease ends. */
const RENEW_MS = LEASE_MS / 3;
const RELEASES_MAX = 100_000;

export interface QuotaOptions {
  readonly store: QuotaStore;
  readonly journal: QuotaJournal;
  readonly clock: Clock;
  readonly log: Log;
  /** Unique for the lifetime of the process; never reused. */
  readonly nodeId: string;
}

/** Reports to the store what this node has spent, and returns the units that it does not need. */
export class QuotaSettlement {
  readonly #options: QuotaOptions;
  /** Closed blocks that are not returned to the store yet. Their journal entries stay until then. */
  readonly #endedBlocks = new Set<Block>();
  /** Released units of closed blocks that are not sent to the store yet, by account and month. */
  #releasedUnits = new Map<string, ReleasedUnits>();
  /** Released units that are being sent. If the response is lost they are sent again under the same serial. */
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

  /** Resolves when all exclusive work requested so far has ended. Never rejects. */
  async idle(): Promise<void> {
    await this.#lastExclusive;
  }

  addEndedBlock(block: Block): void {
    this.#endedBlocks.add(block);
  }

  addReleasedUnit(account: QuotaAccount, month: string): void {
    const key = releaseKey(account, month);
    const existing = this.#releasedUnits.get(key);
    if (existing !== undefined) this.#releasedUnits.set(key, { ...existing, units: existing.units + 1 });
    else if (this.#releasedUnits.size < RELEASES_MAX) this.#releasedUnits.set(key, { account, month, units: 1 });
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

  /** Sends released units to the store without delay, so that other nodes can use them. Batches those of one tick. */
  scheduleRelease(): void {
    if (this.#isReleaseScheduled) return;
    this.#isReleaseScheduled = true;
    const sendAll = () => {
      this.#isReleaseScheduled = false;
      return this.sendReleasedUnits();
    };
    // After a failure the next maintenance run sends them.
    this.#options.clock
      .yieldToEventLoop()
      .then(() => this.runExclusive(sendAll))
      .catch(() => {});
  }

  async settle(): Promise<void> {
    await this.#returnEndedBlocks();
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
  async report(states: readonly AccountState[]): Promise<void> {
    const now = this.#options.clock.monotonic();
    const blocks = states
      .flatMap(blocksOf)
      .filter(
        ({ blockId, spent, lastReport }) =>
          blockId !== null && (spent !== lastReport.spent || now - lastReport.at >= RENEW_MS),
      );
    if (blocks.length === 0) return;
    const entries = blocks.map(journalEntryOf);
    await this.#options.store.renewBlocks(entries, LEASE_MS);
    for (const [index, block] of blocks.entries()) block.lastReport = { spent: entries[index]?.spent ?? 0, at: now };
  }

  /** Returns blocks that the store granted to this node in a response that was lost. */
  async returnLostBlocks(states: readonly AccountState[]): Promise<void> {
    const expired = await this.#options.store.findExpiredBlocks(this.#options.nodeId);
    if (expired.length === 0) return;
    const known = new Set([...this.#endedBlocks, ...states.flatMap(blocksOf)].map(({ blockId }) => blockId));
    // The response to a pending grant may still deliver the block.
    const pending = new Set(states.flatMap((state) => (state.pendingGrant === null ? [] : accountKey(state.account))));
    const lost = expired.filter((block) => !known.has(block.blockId) && !pending.has(accountKey(block)));
    await this.#options.store.returnBlocks(
      this.#options.nodeId,
      lost.map(({ blockId }) => ({ blockId, spent: 0 })),
    );
  }

  async #returnEndedBlocks(): Promise<void> {
    const blocks = [...this.#endedBlocks];
    if (blocks.length === 0) return;
    await this.#options.store.returnBlocks(this.#options.nodeId, blocks.map(journalEntryOf));
    for (const block of blocks) {
      if (block.slot !== null) this.#options.journal.close(block.slot);
      this.#endedBlocks.delete(block);
    }
  }
}

const accountKey = ({ customerId, tier }: QuotaAccount) => `${tier} ${customerId}`;
const releaseKey = (account: QuotaAccount, month: string) => `${month} ${accountKey(account)}`;
