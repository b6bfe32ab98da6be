import type { DropCounter } from "../../../src/ports/venue.ts";

/** A drop counter that records its counts by reason. */
export function countDrops(): { readonly drops: Record<string, number>; readonly drop: DropCounter } {
  const drops: Record<string, number> = {};
  return {
    drops,
    drop(reason, count = 1) {
      drops[reason] = (drops[reason] ?? 0) + count;
    },
  };
}
