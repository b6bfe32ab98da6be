import { OWNERSHIP_CHECK_MS } from "../../../domain/webhook-limits.ts";
import type { Clock } from "../../../ports/clock.ts";

/** Returns the revisions of those webhooks to which this node may deliver now. */
export type ReadDeliverable = (webhookIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;

/** Permission to begin attempts until `until`, in monotonic milliseconds. */
export interface OwnershipCheck {
  readonly revision: number;
  readonly until: number;
}

/** Asks the store whether webhooks may be delivered to. Requests during a query share the next one. */
export class OwnershipChecks {
  readonly #clock: Clock;
  readonly #read: ReadDeliverable;
  #next: { readonly ids: Set<string>; readonly answer: Promise<ReadonlyMap<string, OwnershipCheck>> } | null = null;
  #current: Promise<unknown> = Promise.resolve();

  constructor({ clock, read }: { readonly clock: Clock; readonly read: ReadDeliverable }) {
    this.#clock = clock;
    this.#read = read;
  }

  /** Returns null if the webhook was deleted or disabled, or belongs to another node now. */
  async request(webhookId: string): Promise<OwnershipCheck | null> {
    this.#next ??= this.#schedule();
    this.#next.ids.add(webhookId);
    return (await this.#next.answer).get(webhookId) ?? null;
  }

  #schedule() {
    const ids = new Set<string>();
    const answer = this.#current.then(async () => {
      this.#next = null;
      const until = this.#clock.monotonic() + OWNERSHIP_CHECK_MS;
      const revisions = await this.#read([...ids]);
      return new Map([...revisions].map(([id, revision]) => [id, { revision, until }]));
    });
    this.#current = answer.catch(() => {});
    return { ids, answer };
  }
}
