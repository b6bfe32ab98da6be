import Type from "typebox";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import { oneOf } from "../../../http/schema-types.ts";

const Status = oneOf(["ok", "degraded", "down"]);
const Time = Type.String({ format: "date-time" });
const NullableTime = Type.Unsafe<string | null>({ type: ["string", "null"], format: "date-time" });
const NullableNumber = Type.Unsafe<number | null>({ type: ["number", "null"] });
const Check = Type.Object({ status: Status, detail: Type.Optional(Type.String()) });

const Sweep = Type.Object({
  rows: Type.Integer({ description: "Rows read in the current sweep, or in the last one if none is running" }),
  total: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    description: "Total rows of the listing; null if the venue does not report it",
  }),
  completed: Type.Integer({ description: "Complete sweeps since the start" }),
  incomplete: Type.Integer({ description: "Sweeps with missing pages since the start" }),
});

const DriftEntry = Type.Object({
  name: Type.String({ description: "Object type and field" }),
  kind: oneOf(["unknown_value", "missing", "new"]),
  count: Type.Integer({ description: "Affected objects; new fields are counted in a sample of the objects" }),
  sample: Type.Unsafe<string | null>({
    type: ["string", "null"],
    description: "Type and redacted value of the first occurrence",
  }),
  first_seen_at: Time,
  last_seen_at: Time,
});

const Venue = Type.Object({
  status: oneOf(["starting", "ok", "degraded", "down"]),
  role: oneOf(
    ["ingest", "follower"],
    "ingest: this node reads the venue. follower: another node reads it, and this one reads the store",
  ),
  last_success_at: NullableTime,
  lag_seconds: NullableNumber,
  markets: Type.Integer(),
  stream: oneOf(["up", "down", "none"]),
  sweep: Sweep,
  drops: Type.Record(Type.String(), Type.Integer(), {
    description: "Unusable data received from the venue, by reason",
  }),
  drift: Type.Array(DriftEntry, {
    description: "Differences between the venue's responses and its documentation; at most 63 entries",
  }),
});

const Ingest = Type.Object(
  {
    status: Status,
    detail: Type.Optional(Type.String()),
    restarts: Type.Integer({ description: "How often the thread was replaced since the start" }),
  },
  { description: "The thread that reads the venues. Absent on a node that reads them in the thread of the API" },
);

const Matching = Type.Object(
  {
    status: Status,
    detail: Type.Optional(Type.String()),
    pairs: Type.Integer({ description: "Matched markets of different venues, of every relation and confidence" }),
    pending: Type.Integer({ description: "Changed markets that have not been matched yet" }),
    restarts: Type.Integer({ description: "Failures of the matching thread since the start" }),
  },
  { description: "Absent on a node that does not serve the API" },
);

export const HealthSchema = Type.Object(
  {
    status: Status,
    version: Type.String(),
    data: oneOf(["live", "sandbox"], "Whether prices are real or simulated"),
    uptime_seconds: Type.Number(),
    checks: Type.Object({
      store: Check,
      bus: Check,
      jobs: Check,
      ingest: Type.Optional(Ingest),
      matching: Type.Optional(Matching),
      venues: Type.Record(Type.String(), Venue),
    }),
  },
  { [SCHEMA_NAME]: "Health" },
);

export type HealthReport = Type.Static<typeof HealthSchema>;
