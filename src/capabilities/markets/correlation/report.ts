import { relationshipOf } from "../../../quant/correlation.ts";
import type { CorrelationPeriod } from "./model.ts";

/** Decimals of a coefficient in responses, which is finer than its standard error by a factor of 100. */
const DECIMALS = 4;
const UNITS = 10 ** DECIMALS;
/** Stands for a missing coefficient in `PairTable.coefficients`. */
const NO_COEFFICIENT = -32_768;
/** Minimum length of a piece. A piece can exceed it by at most one sentence. */
const PIECE_LENGTH_MIN = 32 * 1024;

export interface ReportedPair {
  /** Indexes of the two markets; `a` is below `b`. */
  readonly a: number;
  readonly b: number;
  /** A multiple of 0.0001 in [-1, 1]; null if the data is insufficient. */
  readonly correlation: number | null;
  readonly dataPoints: number;
  readonly basis: "logic" | "moves";
  /** Horizon of the compared moves, in grid steps; null without a coefficient and for a matched pair. */
  readonly horizon: number | null;
}

/** Pairs as transferable arrays, with 10 bytes per pair instead of about 140 in JSON. */
export interface PairTable {
  readonly a: Uint16Array<ArrayBuffer>;
  readonly b: Uint16Array<ArrayBuffer>;
  /** In units of 0.0001. */
  readonly coefficients: Int16Array<ArrayBuffer>;
  readonly dataPoints: Uint16Array<ArrayBuffer>;
  /** 1 if the coefficient comes from a match. */
  readonly isLogical: Uint8Array<ArrayBuffer>;
  /** 0 for none. */
  readonly horizons: Uint8Array<ArrayBuffer>;
}

/** The content of a response. Its JSON is encoded while the client reads. */
export interface CorrelationReport {
  readonly marketIds: readonly string[];
  readonly platform: string | null;
  readonly period: CorrelationPeriod;
  /** Length of a grid step in milliseconds. */
  readonly stepMs: number;
  readonly pairs: PairTable;
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

/** Returns the buffers of a report, for the transfer to another thread. */
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

/** Yields the JSON body of a report in pieces of about 32 KiB. Each piece is computed on demand. */
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

/** Returns a sentence about a pair with correlated prices, or with the same or opposite questions. */
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

/** Rounds down, so that a coefficient never appears larger than it is. */
const roundDown = (value: number): string => (Math.floor(value * 100) / 100).toFixed(2);
