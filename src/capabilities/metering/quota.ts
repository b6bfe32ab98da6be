import { AppError } from "../../domain/errors.ts";
import { TIERS, type Tier } from "../../domain/plan.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { JournalEntry, SpendJournal } from "../../ports/spend-journal.ts";
import type { QuotaAccount, QuotaStore } from "./quota-store.ts";

/** A block holds at most this many units (contract, section 4)… */
const BLOCK_UNITS_MAX = 64;
/** …and one when fewer than this many remain, so that nobody waits for units that another node holds unused. */
const SINGLES_BELOW = 128;
const LEASE_MS = 30_000;
const UPKEEP_EVERY_MS = 1_000;
/** A block that nobody has asked for units for this long goes back: other nodes may want them. */
const IDLE_MS = 3_000;
/** After the store said that nothing is left it is not asked again for this long. */
const EXHAUSTED_MS = 250;
const ACCOUNTS_MAX = 100_000;
const RELEASES_MAX = 100_000;

/** One unit, spent; proof for giving it back. */
export interface QuotaReceipt {
  readonly account: QuotaAccount;
  readonly month: string;
  readonly block: Block;
}

export type QuotaDecision =
  | {
      readonly isAllowed: true;
      readonly receipt: QuotaReceipt;
      /** Units left after this one, as far as this node knows: what other nodes hold unused counts as used. */
      readonly remaining: number;
      readonly resetsInMs: number;
    }
  | { readonly isAllowed: false };

export interface QuotaMeter {
  /**
   * Takes one unit of the month's `limit`. Throws `store_unavailable` when a block is needed and cannot be had: what is
   * not counted is not served.
   */
  take(account: QuotaAccount, limit: number): Promise<QuotaDecision> | QuotaDecision;
  /** Gives a unit back whose call failed through no fault of the caller. */
  release(receipt: QuotaReceipt): void;
  /** Units used this month, by tier, units spent here a moment ago included. */
  usage(customerId: string): Promise<Readonly<Record<Tier, number>>>;
  /** Settles what an earlier process left behind; before it nothing may be taken. */
  start(): Promise<void>;
  /** Gives back what is unused. */
  stop(): Promise<void>;
}

interface Block {
  readonly blockId: number | null;
  readonly size: number;
  readonly month: string;
  /** Monotonic instant at which the month is over. */
  readonly monthEndsAt: number;
  readonly slot: number | null;
  spent: number;
  /** Units can still be taken from it and put back into it. */
  isOpen: boolean;
}

interface Holding {
  readonly account: QuotaAccount;
  block: Block | null;
  /** Units of the month in use or in blocks anywhere, when the last block was taken. */
  taken: number;
  usedAt: number;
  exhaustedUntil: number;
  taking: Promise<void> | null;
}

/** Counts calls against the month's quota, exactly and mostly in memory: units are taken from the store in blocks. */
export function createQuotaMeter(options: {
  readonly store: QuotaStore;
  readonly journal: SpendJournal;
  readonly clock: Clock;
  readonly log: Log;
  readonly nodeId: string;
}): QuotaMeter {
  const { store, journal, clock, log, nodeId } = options;
  const holdings = new Map<string, Holding>();
  /** Blocks out of use of which the store has not heard yet; their journal entries stay until it has. */
  const ended = new Set<Block>();
  /** Units to be freed whose blocks are out of use. */
  const released: { readonly account: QuotaAccount; readonly month: string }[] = [];
  let cancelTimer: () => void = () => {};
  let upkeep: Promise<void> = Promise.resolve();
  let isFailing = false;
  let isStopped = false;

  const holdingOf = (account: QuotaAccount): Holding => {
    const name = `${account.tier} ${account.customerId}`;
    const known = holdings.get(name);
    if (known !== undefined) return known;
    if (holdings.size >= ACCOUNTS_MAX) forgetIdle();
    const made = { account, block: null, taken: 0, usedAt: 0, exhaustedUntil: 0, taking: null };
    holdings.set(name, made);
    return made;
  };

  const forgetIdle = () => {
    for (const [name, { block, taking }] of holdings) if (block === null && taking === null) holdings.delete(name);
  };

  const spend = (holding: Holding, limit: number): QuotaDecision | null => {
    const { block, account } = holding;
    const now = clock.monotonic();
    if (block === null || block.spent >= block.size || now >= block.monthEndsAt) return null;
    block.spent += 1;
    write(block);
    holding.usedAt = now;
    const unspent = block.size - block.spent;
    return {
      isAllowed: true,
      receipt: { account, month: block.month, block },
      remaining: Math.max(0, limit - holding.taken) + unspent,
      resetsInMs: block.monthEndsAt - now,
    };
  };

  const write = ({ blockId, slot, spent }: Block) => {
    if (blockId !== null && slot !== null) journal.write(slot, { blockId, spent });
  };

  const takeSlowly = async (holding: Holding, limit: number): Promise<QuotaDecision> => {
    for (;;) {
      const decision = spend(holding, limit);
      if (decision !== null) return decision;
      if (isStopped) throw new AppError("draining", "Shutting down");
      if (clock.monotonic() < holding.exhaustedUntil) return { isAllowed: false };
      holding.taking ??= takeBlock(holding, limit).finally(() => {
        holding.taking = null;
      });
      await holding.taking;
    }
  };

  const takeBlock = async (holding: Holding, limit: number): Promise<void> => {
    detach(holding);
    const options = { limit, nodeId, leaseMs: LEASE_MS, sizeMax: BLOCK_UNITS_MAX, singlesBelow: SINGLES_BELOW };
    const taken = await store.take(holding.account, options);
    const now = clock.monotonic();
    if (taken === null) {
      holding.exhaustedUntil = now + EXHAUSTED_MS;
      return;
    }
    const { blockId, size, month, monthEndsInMs } = taken;
    const slot = blockId === null ? null : journal.open(blockId);
    holding.taken = taken.taken;
    holding.usedAt = now;
    holding.block = { blockId, size, month, monthEndsAt: now + monthEndsInMs, slot, spent: 0, isOpen: true };
  };

  const free = (account: QuotaAccount, month: string): void => {
    if (released.length < RELEASES_MAX) released.push({ account, month });
    else log.error({ tier: account.tier }, "a quota unit could not be given back: too many wait for the store");
  };

  /** Takes the block out of use; what it says now is final. */
  const detach = (holding: Holding): void => {
    const { block } = holding;
    if (block === null) return;
    holding.block = null;
    block.isOpen = false;
    if (block.blockId !== null) ended.add(block);
    // A single unit counts as used from its taking on: one that was given back has to be freed by itself.
    else if (block.spent < block.size) free(holding.account, block.month);
  };

  /** Tells the store what is spent, gives back what lies idle, and ends what dead nodes left behind. */
  const maintain = async (): Promise<void> => {
    const now = clock.monotonic();
    for (const holding of holdings.values()) {
      const { block, usedAt } = holding;
      const isOver = block !== null && (now >= block.monthEndsAt || now - usedAt > IDLE_MS || isStopped);
      if (isOver) detach(holding);
    }
    await endBlocks();
    await tell([...holdings.values()]);
    for (let release = released[0]; release !== undefined; release = released[0]) {
      await store.release(release.account, release.month);
      released.shift();
    }
    if (!isStopped) await store.sweep();
  };

  const endBlocks = async (): Promise<void> => {
    const blocks = [...ended];
    if (blocks.length === 0) return;
    await store.giveBack(blocks.map(entryOf));
    for (const block of blocks) {
      ended.delete(block);
      if (block.slot !== null) journal.close(block.slot);
    }
  };

  const tell = async (of: readonly Holding[]): Promise<void> => {
    const entries = of.flatMap(({ block }) => (block === null || block.blockId === null ? [] : [entryOf(block)]));
    if (entries.length > 0) await store.renew(entries, LEASE_MS);
  };

  const schedule = () => {
    cancelTimer = clock.setTimeout(() => {
      upkeep = maintain().then(
        () => {
          isFailing = false;
        },
        (error: unknown) => {
          // Nothing is lost: blocks stay in use and what is unsettled stays in the journal.
          if (!isFailing) log.warn({ err: error }, "quota could not be settled with the store; it is tried again");
          isFailing = true;
        },
      );
      void upkeep.then(() => {
        if (!isStopped) schedule();
      });
    }, UPKEEP_EVERY_MS);
  };

  return {
    take(account, limit) {
      const holding = holdingOf(account);
      return spend(holding, limit) ?? takeSlowly(holding, limit);
    },
    release({ account, month, block }) {
      if (block.isOpen && block.spent > 0) {
        block.spent -= 1;
        write(block);
      } else {
        free(account, month);
      }
    },
    async usage(customerId) {
      const own = [...TIERS].flatMap((tier) => holdings.get(`${tier} ${customerId}`) ?? []);
      await upkeep;
      await endBlocks();
      await tell(own);
      const used = await store.usage(customerId);
      return { LISTING: 0, INSIGHT: 0, STRATEGY: 0, DEEP: 0, ...used };
    },
    async start() {
      if (journal.recovered.length > 0) await store.giveBack(journal.recovered);
      journal.clear();
      schedule();
    },
    async stop() {
      isStopped = true;
      cancelTimer();
      await upkeep;
      await maintain();
      journal.end();
    },
  };
}

/** What the journal and the store hear of a block; blocks of a single unit, which have no id, are never told. */
function entryOf({ blockId, spent }: Block): JournalEntry {
  if (blockId === null) throw new Error("a single unit is settled when it is taken");
  return { blockId, spent };
}
