import { relationshipOf } from "../../../quant/correlation.ts";
import type { CorrelationPeriod } from "./model.ts";

/** Decimals of a coefficient in responses. Standard errors are 100 times as large. */
const DECIMALS = 4;
const UNITS = 10 ** DECIMALS;
/** Stands for a missing coefficient in `PairTable.coefficients`. */
const NO_COEFFICIENT = -32_768;
/** A piece is complete at this length, so that it is at most one sentence longer. */
const PIECE_LENGTH_MIN = 32 * 1024;

/** A pair as a response shows it. */
export interface ReportedPair {
  /** Indexes of the two markets; `a` is below `b`. */
  readonly a: number;
  readonly b: number;
  /** A multiple of 0.0001 in [-1, 1]; null if the data is insufficient. */
  readonly correlation: number | null;
  readonly dataPoints: number;
  readonly basis: "logic" | "moves";
  /** Steps over which the moves were compared; null without a coefficient and for a pair tied by logic. */
  readonly horizon: number | null;
}

/** Columns of pairs: 10 bytes per pair, where JSON has about 140. They can be moved between threads. */
export interface PairTable {
  readonly a: Uint16Array<ArrayBuffer>;
  readonly b: Uint16Array<ArrayBuffer>;
  /** In units of 0.0001. */
  readonly coefficients: Int16Array<ArrayBuffer>;
  readonly dataPoints: Uint16Array<ArrayBuffer>;
  /** 1 if the pair is tied by logic. */
  readonly isLogical: Uint8Array<ArrayBuffer>;
  /** 0 for none. */
  readonly horizons: Uint8Array<ArrayBuffer>;
}

/** The content of a response, from which its JSON is written while the client reads. */
export interface CorrelationReport {
  readonly marketIds: readonly string[];
  readonly platform: string | null;
  readonly period: CorrelationPeriod;
  /** Milliseconds of one step of a horizon. */
  readonly stepMs: number;
  readonly pairs: PairTable;
  /** The pairs that get a warning. */
  readonly warned: PairTable;
  /** For each cluster, the indexes of its markets. */
  readonly clusters: readonly (readonly number[])[];
  /** Unix milliseconds. */
  readonly generatedAt: number;
}

/** Rounds a coefficient to the decimals of a response. */
export const roundCoefficient = (correlation: number): number => Math.round(correlation * UNITS) / UNITS;

export function createPairTable(pairs: readonly ReportedPair[]): PairTable {
  return {
    a: Uint16Array.from(pairs, ({ a }) => a),
    b: Uint16Array.from(pairs, ({ b }) => b),
    coefficients: Int16Array.from(pairs, ({ correlation }) =>
      correlation === null ? NO_COEFFICIENT : Math.round(correlation * UNITS),
    ),
    dataPoints: Uint16Array.from(pairs, ({ dataPoints }) => dataPoints),
    isLogical: Uint8Array.from(pairs, ({ basis }) => (basis === "logic" ? 1 : 0)),
    horizons: Uint8Array.from(pairs, ({ horizon }) => horizon ?? 0),
  };
}

/** The memory of a report, to be moved to another thread. */
export const buffersOf = ({ pairs, warned }: CorrelationReport): ArrayBuffer[] =>
  [pairs, warned].flatMap((table) => Object.values(table).map(({ buffer }) => buffer));

function* readPairs(table: PairTable): Generator<ReportedPair> {
  for (const [index, a] of table.a.entries()) {
    const coefficient = table.coefficients[index] ?? NO_COEFFICIENT;
    const horizon = table.horizons[index] ?? 0;
    yield {
      a,
      b: table.b[index] ?? 0,
      correlation: coefficient === NO_COEFFICIENT ? null : coefficient / UNITS,
      dataPoints: table.dataPoints[index] ?? 0,
      basis: table.isLogical[index] === 1 ? "logic" : "moves",
      horizon: horizon === 0 ? null : horizon,
    };
  }
}

/** Writes the JSON body of a report in pieces of about 32 KiB. Each piece is computed when it is read. */
export function* encodeReport(report: CorrelationReport): Generator<string> {
  let piece = "";
  for (const part of encodeParts(report)) {
    piece += part;
    if (piece.length < PIECE_LENGTH_MIN) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

function* encodeParts(report: CorrelationReport): Generator<string> {
  const { marketIds, platform, period, stepMs, pairs, warned, clusters, generatedAt } = report;
  const names = marketIds.map((id) => JSON.stringify(id));
  const encodePair = ({ a, b, correlation, dataPoints, basis, horizon }: ReportedPair): string => {
    const seconds = horizon === null ? null : (horizon * stepMs) / 1000;
    return `{"market_a":${names[a]},"market_b":${names[b]},"correlation":${correlation},"data_points":${dataPoints},"relationship":"${relationshipOf(correlation)}","basis":"${basis}","horizon_seconds":${seconds}}`;
  };
  yield '{"market_ids":';
  yield* encodeList(names, (name) => name);
  yield `,"platform":${JSON.stringify(platform)},"period":"${period}","pairs":`;
  yield* encodeList(readPairs(pairs), encodePair);
  yield ',"clusters":';
  yield* encodeList(clusters, (indexes) => `[${indexes.map((index) => names[index]).join(",")}]`);
  yield ',"concentration_warnings":';
  yield* encodeList(readPairs(warned), (pair) => JSON.stringify(describeConcentration(pair, marketIds, period)));
  yield `,"generated_at":"${new Date(generatedAt).toISOString()}"}`;
}

function* encodeList<Item>(items: Iterable<Item>, encode: (item: Item) => string): Generator<string> {
  let separator = "[";
  for (const item of items) {
    yield separator + encode(item);
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}

/** A sentence about a pair that moves together, or asks the same or opposite questions. */
function describeConcentration(
  { a, b, correlation, dataPoints, basis }: ReportedPair,
  marketIds: readonly string[],
  period: string,
): string {
  const names = `${marketIds[a]} and ${marketIds[b]}`;
  const coefficient = correlation ?? 0;
  if (basis === "logic") {
    const [asks, side] =
      coefficient > 0 ? ["the same question", "the same side"] : ["opposite questions", "opposite sides"];
    return `${names} ask ${asks}, with a confidence of ${roundDown(Math.abs(coefficient))}. Positions on ${side} of both are one larger position.`;
  }
  return `${names} move together: correlation ${roundDown(coefficient)} over ${period} (${dataPoints} data points). Positions on the same side of both add up to one larger position.`;
}

/** Rounded down, so that no coefficient is shown as larger than it is. */
const roundDown = (value: number): string => (Math.floor(value * 100) / 100).toFixed(2);
