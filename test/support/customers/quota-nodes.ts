import { randomUUID } from "node:crypto";
import { setImmediate as nextIteration } from "node:timers/promises";
import { openQuotaJournal } from "../../../src/adapters/metering/quota-journal-file.ts";
import { type QuotaCharge, QuotaMeter } from "../../../src/capabilities/accounts/metering/quota-meter.ts";
import {
  createQuotaStore,
  type QuotaAccount,
  type QuotaStore,
} from "../../../src/capabilities/accounts/metering/quota-store.ts";
import type { Database } from "../../../src/ports/database.ts";
import type { QuotaJournal } from "../../../src/ports/quota-journal.ts";
import { ClusterNode } from "../cluster.ts";
import { FakeClock } from "../fake-clock.ts";
import { quietLog } from "../quiet-log.ts";
import { createTestFolder } from "../test-folder.ts";

export const ACCOUNT: QuotaAccount = { customerId: "cus-a", tier: "INSIGHT" };

interface QuotaNodeOptions {
  readonly store?: QuotaStore;
  readonly wrapJournal?: (journal: QuotaJournal) => QuotaJournal;
}

/** The meters by number of nodes. */
type Meters = { 1: [QuotaMeter]; 2: [QuotaMeter, QuotaMeter]; 3: [QuotaMeter, QuotaMeter, QuotaMeter] };

/** Starts quota meters that share one store. Each has a journal file that survives a restart. */
export async function startQuotaNodes<Count extends keyof Meters>(
  database: Database,
  count: Count,
  options: QuotaNodeOptions = {},
) {
  const { store = createQuotaStore(database), wrapJournal = (journal) => journal } = options;
  const folders = await Promise.all(Array.from({ length: count }, () => createTestFolder()));
  const clock = new FakeClock();
  const processes: { readonly id: string; readonly node: ClusterNode; readonly journal: QuotaJournal }[] = [];
  /** Kills the process at this index, if any, and starts a new process. */
  const restart = async (index: number): Promise<QuotaMeter> => {
    const killed = processes[index];
    killed?.node.kill();
    // `kill` cannot stop a pending write of the journal, and a dead process must not write after its successor started.
    await killed?.journal.committed()?.catch(() => {});
    const node = new ClusterNode(clock, () => database);
    const id = randomUUID();
    const journal = wrapJournal(openQuotaJournal(folders[index] ?? ""));
    processes[index] = { id, node, journal };
    const meter = new QuotaMeter({ store, journal, clock: node.clock, log: quietLog, nodeId: id });
    await meter.start();
    return meter;
  };
  const meters = (await Promise.all(folders.map((_, index) => restart(index)))) as Meters[Count];
  return { clock, store, meters, restart, idOf: (index: number) => processes[index]?.id ?? "" };
}

export async function startQuotaNode(database: Database, options?: QuotaNodeOptions) {
  const { meters, ...node } = await startQuotaNodes(database, 1, options);
  return { ...node, meter: meters[0] };
}

/** Takes units until a unit is rejected or `attempts` units are taken. Returns the charges. */
export async function takeAll(
  meter: QuotaMeter,
  limit: number,
  attempts = Number.POSITIVE_INFINITY,
): Promise<QuotaCharge[]> {
  const charges: QuotaCharge[] = [];
  for (let count = 0; count < attempts; count++) {
    const decision = await meter.take(ACCOUNT, limit);
    if (!decision.isAllowed) break;
    charges.push(decision);
  }
  return charges;
}

/** Waits until the store reports `units` used units. */
export async function waitForUsage(store: QuotaStore, units: number): Promise<void> {
  while ((await store.usage(ACCOUNT.customerId)).used.INSIGHT !== units) await nextIteration();
}
