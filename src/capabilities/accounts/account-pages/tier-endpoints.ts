import type { RouteEntry } from "../../../domain/metering.ts";
import type { Tier } from "../../../domain/plan.ts";

/** Lists the endpoints of a tier as path segments without parameters, for example "markets, markets history, events". */
export function summarizeEndpoints(tier: Tier, routes: readonly RouteEntry[]): string {
  const names = routes
    .filter(({ metering }) => metering.quotaTier === tier)
    .map(({ path }) =>
      path
        .replace(/\{\w+\}/g, "")
        .split("/")
        .filter(Boolean)
        .slice(1)
        .join(" "),
    );
  return [...new Set(names)].join(", ") || "no endpoints yet";
}

export const formatInteger = (value: number): string => value.toLocaleString("en-US");
