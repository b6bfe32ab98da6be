import { OWNERSHIP_CHECK_MS } from "../../../domain/webhook-limits.ts";
import type { Clock } from "../../../ports/clock.ts";

/** Returns the revisions of the given webhooks to which this node may deliver now. */
export type ReadDeliverable = (webhookIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;

/** Permission to begin attempts until `until`, in monotonic milliseconds. */
export interface OwnershipCheck {
  readonly revision: number;
  readonly until: number;
}

export type OwnershipChecks = ReturnType<typeof createOwnershipChecks>;

/** Checks in the store whether this node may deliver to webhooks. Requests during a query share the next query. */
export function createOwnershipChecks({ clock, read }: { readonly clock: Clock; readonly read: ReadDeliverable }) {
  let next: { readonly ids: Set<string>; readonly answer: Promise<ReadonlyMap<string, OwnershipCheck>> } | null = null;
  let current: Promise<unknown> = Promise.resolve();

  const schedule = () => {
    const ids = new Set<string>();
    const answer = current.then(async () => {
      next = null;
      const until = clock.monotonic() + OWNERSHIP_CHECK_MS;
      const revisions = await read([...ids]);
      return new Map([...revisions].map(([id, revision]) => [id, { revision, until }]));
    });
    current = answer.catch(() => {});
    return { ids, answer };
  };

  return {
    /** Returns null if the webhook was deleted or disabled, or if another node holds it. */
    async request(webhookId: string): Promise<OwnershipCheck | null> {
      next ??= schedule();
      next.ids.add(webhookId);
      return (await next.answer).get(webhookId) ?? null;
    },
  };
}
