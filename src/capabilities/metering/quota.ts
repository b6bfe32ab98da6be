import { AppError } from "../../domain/errors.ts";
import type { QuotaRefusal } from "../../domain/metering.ts";
import { TIERS, type Tier } from "../../domain/plan.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { JournalEntry, QuotaJournal } from "../../ports/quota-journal.ts";
import type { QuotaAccount, QuotaStore, ReleasedUnits, TakenBlock } from "./quota-store.ts";

/** A block holds at most this many units (contract, section 4)… */
const BLOCK_UNITS_MAX = 64;
/** …and one when fewer than this many remain, so that nobody waits for units that another node holds unused. */
const SINGLES_BELOW = 128;
/** A customer whose units last for less than this takes twice as many blocks the next time… */
const BUSY_MS = 1_000;
/** …and this many at most: one statement of the store serves two thousand calls then. */
const BLOCKS_AT_ONCE_MAX = 32;
const LEASE_MS = 30_000;
const UPKEEP_EVERY_MS = 1_000;
/** A block of which nothing was spent since is told of only this often, in good time before its lease ends. */
const RENEW_MS = LEASE_MS / 3;
/** A block that nobody has asked for units for this long goes back: other nodes may want them. */
const IDLE_MS = 3_000;
/** After the store said that nothing is left it is not asked again for this long. */
const EXHAUSTED_MS = 250;
/** After the journal could not take a block in no more are asked for this long: they could not be used. */
const JOURNAL_AWAY_MS = 1_000;
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
  | QuotaRefusal;

export interface QuotaMeter {
  /**
   * Takes one unit of the month's `limit`. Throws `store_unavailable` when a block is needed and cannot be had: what is
   * not counted is not served.
   */
  take(account: QuotaAccount, limit: number): Promise<QuotaDecision> | QuotaDecision;
  /** Gives a unit back whose call failed through no fault of the caller. */
  release(receipt: QuotaReceipt): void;
  /** Units used this month, by tier, units spent here a moment ago included. */
  usage(customerId: string): Promise<Usage>;
  /** Settles what an earlier process left behind; before it nothing may be taken. */
  start(): Promise<void>;
  /** Gives back what is unused; where the store is away, the journal keeps it for the next start. */
  stop(): Promise<void>;
}

export interface Usage {
  readonly used: Readonly<Record<Tier, number>>;
  /** First day of the next month (UTC), for example "2026-12-01". */
  readonly resetsOn: string;
}

interface Block {
  readonly blockId: number | null;
  readonly size: number;
  readonly month: string;
  /** Monotonic instant at which the month is over. */
  readonly monthEndsAt: number;
  readonly slot: number | null;
  spent: number;
  /** What the store heard last, and when. */
  told: { readonly spent: number; readonly at: number };
  /** Units can still be taken from it and put back into it. */
  isOpen: boolean;
}

interface Holding {
  readonly account: QuotaAccount;
  /** The one in use. */
  block: Block | null;
  /** Those after it; only a busy customer has any. */
  readonly reserve: Block[];
  /** When blocks were last taken, of which month, and how many were asked for. */
  takenAt: number;
  month: string;
  blocksAtOnce: number;
  /** With so many units left more are taken: half of the last ones, so that a store that is slow for a moment is not waited for. */
  takeAheadAt: number;
  /** The limit that they were taken under. */
  limit: number;
  /** Units of the month in use or in blocks anywhere, when the last block was taken. */
  taken: number;
  usedAt: number;
  /** The store said that nothing is left, and is not asked again before `until`. */
  exhausted: { readonly until: number; readonly monthEndsAt: number; readonly resetsOn: string } | null;
  taking: Promise<void> | null;
}

/** Counts calls against the month's quota, exactly and mostly in memory: units are taken from the store in blocks. */
export function createQuotaMeter(options: {
  readonly store: QuotaStore;
  readonly journal: QuotaJournal;
  readonly clock: Clock;
  readonly log: Log;
  /** Of this process alone: none before it and none after it is called so. */
  readonly nodeId: string;
}): QuotaMeter {
  const { store, journal, clock, log, nodeId } = options;
  /** By customer. */
  const holdings: Readonly<Record<Tier, Map<string, Holding>>> = {
    ...{ LISTING: new Map(), INSIGHT: new Map() },
    ...{ STRATEGY: new Map(), DEEP: new Map() },
  };
  const everyHolding = () => TIERS.flatMap((tier) => [...holdings[tier].values()]);
  /** Blocks out of use of which the store has not heard yet; their journal entries stay until it has. */
  const ended = new Set<Block>();
  /** Units to be freed whose blocks are out of use, by account and month. */
  let released = new Map<string, ReleasedUnits>();
  /** Those that the store is being told of. Where its answer is lost it is told again under the same number. */
  let releasing: ReadonlyMap<string, ReleasedUnits> = new Map();
  let releaseSerial = 0;
  let willFree = false;
  let journalAwayUntil = 0;
  let cancelTimer: () => void = () => {};
  /** What is settled with the store is settled one after the other: at once, two would give the same place away twice. */
  let settling: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = settling.then(work);
    settling = done.catch(() => {});
    return done;
  };
  let isFailing = false;
  let isStopped = false;

  const holdingOf = (account: QuotaAccount): Holding => {
    const ofTier = holdings[account.tier];
    const known = ofTier.get(account.customerId);
    if (known !== undefined) return known;
    if (ofTier.size >= ACCOUNTS_MAX) forgetIdle(ofTier);
    const made = {
      account,
      block: null,
      reserve: [],
      takenAt: Number.NEGATIVE_INFINITY,
      month: "",
      blocksAtOnce: 1,
      takeAheadAt: BLOCK_UNITS_MAX,
      limit: 0,
      taken: 0,
      usedAt: 0,
      exhausted: null,
      taking: null,
    };
    ofTier.set(account.customerId, made);
    return made;
  };

  const forgetIdle = (ofTier: Map<string, Holding>) => {
    for (const [customerId, { block, reserve, taking }] of ofTier)
      if (block === null && reserve.length === 0 && taking === null) ofTier.delete(customerId);
  };

  const spend = (holding: Holding, limit: number): QuotaDecision | null => {
    if (limit < holding.limit) return null;
    const { account, reserve } = holding;
    const now = clock.monotonic();
    const block = usableBlock(holding, now);
    if (block === null) return null;
    block.spent += 1;
    write(block);
    holding.usedAt = now;
    let unspent = block.size - block.spent;
    for (const { size } of reserve) unspent += size;
    if (holding.blocksAtOnce > 1 && unspent === holding.takeAheadAt) takeAhead(holding, limit);
    return {
      isAllowed: true,
      receipt: { account, month: block.month, block },
      remaining: Math.max(0, limit - holding.taken) + unspent,
      resetsInMs: block.monthEndsAt - now,
    };
  };

  /** The block in use, or the next one where that is spent or of a month that is over; null when none is left. */
  const usableBlock = (holding: Holding, now: number): Block | null => {
    for (;;) {
      const { block } = holding;
      if (block !== null && block.spent < block.size && now < block.monthEndsAt) return block;
      endBlock(holding);
      holding.block = holding.reserve.shift() ?? null;
      if (holding.block === null) return null;
    }
  };

  /** So that a busy customer need not wait for the store. */
  const takeAhead = (holding: Holding, limit: number): void => {
    holding.taking ??= takeBlocks(holding, limit).finally(() => {
      holding.taking = null;
    });
    // Whoever finds nothing left asks again, and is told.
    holding.taking.catch(() => {});
  };

  /** A unit is proven before it is used: else a call that was answered could be forgotten with the process. */
  const onceRecorded = (decision: QuotaDecision): Promise<QuotaDecision> | QuotaDecision => {
    // A single unit is in the store as spent.
    if (!decision.isAllowed || decision.receipt.block.slot === null) return decision;
    return (
      journal.committed()?.then(
        () => decision,
        (error: unknown) => {
          release(decision.receipt);
          throw error;
        },
      ) ?? decision
    );
  };

  const release = ({ account, month, block }: QuotaReceipt): void => {
    if (block.isOpen && block.blockId !== null && block.spent > 0) {
      block.spent -= 1;
      write(block);
    } else {
      free(account, month);
      freeSoon();
    }
  };

  const write = ({ blockId, slot, spent }: Block) => {
    if (blockId !== null && slot !== null) journal.write(slot, { blockId, spent });
  };

  const takeSlowly = async (holding: Holding, limit: number): Promise<QuotaDecision> => {
    for (;;) {
      const decision = spend(holding, limit);
      if (decision !== null) return decision;
      if (isStopped) throw new AppError("draining", "Shutting down");
      if (limit < holding.limit) {
        // Of what was taken under the higher limit nothing more is spent: the store says what is left under this one.
        detach(holding);
        await inTurn(settle);
        holding.limit = limit;
      }
      const { exhausted, taken: used } = holding;
      const now = clock.monotonic();
      if (exhausted !== null && now < exhausted.until) {
        const { monthEndsAt, resetsOn } = exhausted;
        return { isAllowed: false, used, resetsInMs: Math.max(0, monthEndsAt - now), resetsOn };
      }
      takeAhead(holding, limit);
      await holding.taking;
    }
  };

  const takeBlocks = async (holding: Holding, limit: number): Promise<void> => {
    if (clock.monotonic() < journalAwayUntil) throw cannotCount();
    // What the customer was given back and is on its way may be all that it has left.
    const name = releaseName(holding.account, holding.month);
    if (released.has(name) || releasing.has(name)) await inTurn(freeReleased);
    const isBusy = clock.monotonic() - holding.takenAt < BUSY_MS;
    holding.blocksAtOnce = isBusy ? Math.min(BLOCKS_AT_ONCE_MAX, 2 * holding.blocksAtOnce) : 1;
    const { blocks, taken, monthEndsInMs, resetsOn } = await store.take(holding.account, {
      ...{ limit, nodeId, leaseMs: LEASE_MS, sizeMax: BLOCK_UNITS_MAX, singlesBelow: SINGLES_BELOW },
      blocks: holding.blocksAtOnce,
    });
    const now = clock.monotonic();
    const monthEndsAt = now + monthEndsInMs;
    holding.taken = taken;
    holding.limit = limit;
    if (blocks.length === 0) {
      holding.exhausted = { until: Math.min(now + EXHAUSTED_MS, monthEndsAt), monthEndsAt, resetsOn };
      return;
    }
    holding.usedAt = now;
    holding.takenAt = now;
    holding.month = blocks[0]?.month ?? "";
    holding.takeAheadAt = Math.max(BLOCK_UNITS_MAX, (blocks.length * BLOCK_UNITS_MAX) / 2);
    for (const taken of blocks) {
      const slot = placeFor(taken);
      const block = { ...taken, monthEndsAt, slot, spent: 0, told: { spent: 0, at: now }, isOpen: true };
      if (taken.blockId === null || slot !== null) holding.reserve.push(block);
      else ended.add({ ...block, isOpen: false });
    }
    if (holding.reserve.length === 0) throw cannotCount();
  };

  /** Where the journal keeps the block's count; null where it cannot, and for a single unit, which it need not. */
  const placeFor = ({ blockId }: TakenBlock): number | null => {
    if (blockId === null) return null;
    const now = clock.monotonic();
    if (now < journalAwayUntil) return null;
    try {
      const slot = journal.open(blockId);
      if (slot !== null) return slot;
      log.error({}, "the quota journal is full: too many customers call at once");
    } catch (error) {
      log.error({ err: error }, "the quota journal cannot be written");
    }
    journalAwayUntil = now + JOURNAL_AWAY_MS;
    return null;
  };

  const free = (account: QuotaAccount, month: string): void => {
    const name = releaseName(account, month);
    const known = released.get(name);
    if (known !== undefined) released.set(name, { ...known, units: known.units + 1 });
    else if (released.size < RELEASES_MAX) released.set(name, { account, month, units: 1 });
    else log.error({ tier: account.tier }, "a quota unit could not be given back: too many wait for the store");
  };

  /** At once, so that whoever asks another node finds the unit; what comes meanwhile goes along. */
  const freeSoon = (): void => {
    if (willFree) return;
    willFree = true;
    const freeAll = () => {
      willFree = false;
      return freeReleased();
    };
    // Where the store is away upkeep tries again.
    clock
      .yieldToEventLoop()
      .then(() => inTurn(freeAll))
      .catch(() => {});
  };

  /** Takes the block in use out of it; what it says now is final. */
  const endBlock = (holding: Holding): void => {
    const { block } = holding;
    if (block === null) return;
    holding.block = null;
    block.isOpen = false;
    if (block.blockId !== null) ended.add(block);
    // A single unit counts as used from its taking on: one that was given back has to be freed by itself.
    else if (block.spent < block.size) free(holding.account, block.month);
  };

  /** Takes all blocks out of use. */
  const detach = (holding: Holding): void => {
    endBlock(holding);
    for (let next = holding.reserve.shift(); next !== undefined; next = holding.reserve.shift()) {
      holding.block = next;
      endBlock(holding);
    }
  };

  /** Tells the store what is spent, gives back what lies idle, and ends what dead nodes left behind. */
  const maintain = async (): Promise<void> => {
    const now = clock.monotonic();
    for (const holding of everyHolding()) {
      const { block, reserve, usedAt } = holding;
      const isOver = (each: Block | null) => each !== null && now >= each.monthEndsAt;
      if (isOver(block ?? reserve[0] ?? null) || now - usedAt > IDLE_MS || isStopped) detach(holding);
    }
    await settle();
    await tell(everyHolding());
    if (isStopped) return;
    await endForgotten();
    await store.sweep();
  };

  const settle = async (): Promise<void> => {
    await endBlocks();
    await freeReleased();
  };

  const freeReleased = async (): Promise<void> => {
    while (releasing.size > 0 || released.size > 0) {
      if (releasing.size === 0) {
        releasing = released;
        released = new Map();
        releaseSerial += 1;
      }
      await store.release(nodeId, releaseSerial, [...releasing.values()]);
      releasing = new Map();
    }
  };

  const endBlocks = async (): Promise<void> => {
    const blocks = [...ended];
    if (blocks.length === 0) return;
    await store.giveBack(nodeId, blocks.map(entryOf));
    for (const block of blocks) {
      if (block.slot !== null) journal.close(block.slot);
      ended.delete(block);
    }
  };

  /** Ends blocks that this node was given and never heard of, because the answer was lost. */
  const endForgotten = async (): Promise<void> => {
    const overdue = await store.overdue(nodeId);
    if (overdue.length === 0) return;
    const known = new Set([...ended, ...everyHolding().flatMap(blocksOf)].map(({ blockId }) => blockId));
    // What an account is being given just now may be on its way.
    const forgotten = overdue.filter(
      ({ blockId, tier, customerId }) =>
        !known.has(blockId) && (holdings[tier].get(customerId)?.taking ?? null) === null,
    );
    await store.giveBack(
      nodeId,
      forgotten.map(({ blockId }) => ({ blockId, spent: 0 })),
    );
  };

  const tell = async (of: readonly Holding[]): Promise<void> => {
    const now = clock.monotonic();
    const news = of
      .flatMap(blocksOf)
      .filter(({ blockId, spent, told }) => blockId !== null && (spent !== told.spent || now - told.at >= RENEW_MS));
    if (news.length === 0) return;
    const entries = news.map(entryOf);
    await store.renew(entries, LEASE_MS);
    for (const [index, block] of news.entries()) block.told = { spent: entries[index]?.spent ?? 0, at: now };
  };

  const schedule = () => {
    cancelTimer = clock.setTimeout(() => {
      void inTurn(maintain)
        .then(
          () => {
            isFailing = false;
          },
          (error: unknown) => {
            // Nothing is lost: blocks stay in use and what is unsettled stays in the journal.
            if (!isFailing) log.warn({ err: error }, "quota could not be settled with the store; it is tried again");
            isFailing = true;
          },
        )
        .then(() => {
          if (!isStopped) schedule();
        });
    }, UPKEEP_EVERY_MS);
  };

  return {
    take(account, limit) {
      const holding = holdingOf(account);
      const decision = spend(holding, limit);
      if (decision === null) return takeSlowly(holding, limit).then(onceRecorded);
      return onceRecorded(decision);
    },
    release,
    async usage(customerId) {
      const own = TIERS.flatMap((tier) => holdings[tier].get(customerId) ?? []);
      await inTurn(async () => {
        await settle();
        await tell(own);
      });
      const { used: told, resetsOn } = await store.usage(customerId);
      const used = { LISTING: 0, INSIGHT: 0, STRATEGY: 0, DEEP: 0, ...told };
      // A single unit counts as used in the store; one that nobody has asked for yet lies here.
      for (const holding of own)
        for (const { blockId, size, spent } of blocksOf(holding))
          if (blockId === null) used[holding.account.tier] -= size - spent;
      return { used, resetsOn };
    },
    async start() {
      // Blocks that were on their way to the node when it died are in no journal, and nothing was spent of them.
      if (journal.predecessor !== null) await store.giveBackOfDead(journal.predecessor, journal.recovered);
      journal.clear(nodeId);
      schedule();
    },
    async stop() {
      isStopped = true;
      cancelTimer();
      await settling;
      await Promise.allSettled(everyHolding().map(({ taking }) => taking));
      try {
        await inTurn(maintain);
      } catch (error) {
        log.warn({ err: error }, "unused quota could not be given back; it is when this node starts again");
      }
      journal.end();
    },
  };
}

const blocksOf = ({ block, reserve }: Holding): readonly Block[] => (block === null ? reserve : [block, ...reserve]);

const releaseName = ({ customerId, tier }: QuotaAccount, month: string) => `${month} ${tier} ${customerId}`;

const cannotCount = () => new AppError("store_unavailable", "Calls cannot be counted at the moment.");

/** What the journal and the store hear of a block; blocks of a single unit, which have no id, are never told. */
function entryOf({ blockId, spent }: Block): JournalEntry {
  if (blockId === null) throw new Error("a single unit is settled when it is taken");
  return { blockId, spent };
}
