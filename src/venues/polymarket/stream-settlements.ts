import { deleteOldest } from "../../lib/delete-oldest.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ParsedResolution } from "./parse-resolution.ts";

const SETTLEMENTS_MAX = 10_000;
/** Time for which a settlement is kept. Afterwards, the REST API is expected to return the settlement. */
const SETTLEMENT_MS_MAX = 15 * 60_000;

/** Settlements reported by the stream. They are kept, because the REST API returns them up to several minutes later. */
export class StreamSettlements {
  readonly #clock: Pick<Clock, "monotonic">;
  /** Settlements by the id of the winning token. */
  readonly #settlements = new Map<string, { readonly resolvedAt: number | null; readonly expiresAt: number }>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** @param resolvedAt  Unix milliseconds */
  add(winningToken: string, resolvedAt: number | null): void {
    this.#settlements.set(winningToken, { resolvedAt, expiresAt: this.#clock.monotonic() + SETTLEMENT_MS_MAX });
    deleteOldest(this.#settlements, SETTLEMENTS_MAX);
  }

  find(tokenYes: string, tokenNo: string): ParsedResolution | null {
    for (const [token, kind] of [
      [tokenYes, "yes"],
      [tokenNo, "no"],
    ] as const) {
      const settlement = this.#settlements.get(token);
      if (settlement === undefined || settlement.expiresAt < this.#clock.monotonic()) continue;
      return { state: "settled", outcome: { kind }, resolvedAt: settlement.resolvedAt };
    }
    return null;
  }
}
