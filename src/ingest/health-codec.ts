import Type from "typebox";
import { Compile } from "typebox/compile";
import type { VenueHealthReport } from "./venue-health.ts";

const MaybeNumber = Type.Union([Type.Number(), Type.Null()]);
const oneOf = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)));

const check = Compile(
  Type.Object({
    status: oneOf("starting", "ok", "degraded", "down"),
    lastSuccessAt: MaybeNumber,
    lagMs: MaybeNumber,
    markets: Type.Number(),
    stream: oneOf("up", "down", "none"),
    sweep: Type.Object({
      rows: Type.Number(),
      total: MaybeNumber,
      completed: Type.Number(),
      incomplete: Type.Number(),
    }),
    drops: Type.Record(Type.String(), Type.Number()),
    drift: Type.Array(
      Type.Object({
        name: Type.String(),
        kind: oneOf("unknown_value", "missing", "new"),
        count: Type.Number(),
        sample: Type.Union([Type.String(), Type.Null()]),
        firstSeenAt: Type.Number(),
        lastSeenAt: Type.Number(),
      }),
    ),
  }),
);

/** Parses the venue health that another node has stored; null if it is malformed or from an incompatible version. */
export function parseHealthReport(text: string): VenueHealthReport | null {
  try {
    const value: unknown = JSON.parse(text);
    // The schema matches the type, but its enums have the static type string.
    return check.Check(value) ? (value as VenueHealthReport) : null;
  } catch {
    return null;
  }
}
