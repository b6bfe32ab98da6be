import type { DropCounter } from "../../../src/ports/venue.ts";

/** Creates a drop counter and its counts by reason. */
export function countDrops(): { readonly countDrop: DropCounter; readonly drops: Record<string, number> } {
  const drops: Record<string, number> = {};
  return {
    drops,
    countDrop(reason, count = 1) {
      drops[reason] = (drops[reason] ?? 0) + count;
    },
  };
}
