import { BrownianPaths } from "./brownian.ts";
import { hashKeys, hashOn, normalCdf, uniform, uniformOf } from "./random.ts";

/**
 * The true probability of a question given all that has happened by an instant. Each kind below is an exact martingale:
 * among all moments at which it says 0.3, three in ten end in YES, by construction and not by tuning.
 */
export type Truth =
  /** Exactly one of the outcomes is the answer; news makes it clearer. `strength` is how telling the news is. */
  | { readonly kind: "categorical"; readonly priors: readonly number[]; readonly strength: number }
  /** A number is published at the close; what is expected of it drifts until then. */
  | { readonly kind: "numeric"; readonly mean: number; readonly deviation: number }
  /** Something happens at a random moment, or not in time. `perDay` is its rate. */
  | { readonly kind: "hazard"; readonly perDay: number };

/** What makes a market out of a truth: an outcome's number, a stretch of the number line, or a deadline. */
export type Claim =
  | { readonly kind: "outcome"; readonly index: number }
  | { readonly kind: "range"; readonly above: number; readonly upTo: number }
  | { readonly kind: "before"; readonly deadline: number };

export interface TruthSource {
  readonly seed: number;
  /** Key of the real-world event: the same on every venue. */
  readonly underlying: number;
  readonly truth: Truth;
  readonly openAt: number;
  /** When the answer is revealed. */
  readonly revealAt: number;
}

const DAY_MS = 86_400_000;
/** A two hundred day market moves in steps of a quarter of an hour and straight between. */
const BRIDGE_DEPTH = 14;
const ROUGH_DEPTH = 5;
/** Beliefs remembered, over all events. */
const BELIEVED_MAX = 4_096;
const JUMPS = 5;
const JUMP_SHARE = 0.3;
const REVEAL_SHARE = 0.2;

/** Kinds of draws, so that keys never collide. */
const Draw = { bridge: 1, jumpAt: 2, winner: 3, happensAt: 4 } as const;

/** Share of all news that is out by `at`: a steady flow, a few jumps, and the last part with the answer itself. */
function newsShare(source: TruthSource, at: number): number {
  if (at >= source.revealAt) return 1;
  const u = (at - source.openAt) / (source.revealAt - source.openAt);
  if (u <= 0) return 0;
  let share = (1 - JUMP_SHARE - REVEAL_SHARE) * u;
  const key = hashKeys(source.seed, source.underlying, Draw.jumpAt);
  for (let jump = 0; jump < JUMPS; jump++) {
    if (u >= uniformOf(hashOn(key, jump))) share += JUMP_SHARE / JUMPS;
  }
  return share;
}

/** The outcome that will turn out to be the answer. */
function winner(source: TruthSource): number {
  if (source.truth.kind !== "categorical") return -1;
  let rest = uniform(source.seed, source.underlying, Draw.winner);
  const { priors } = source.truth;
  for (let index = 0; index < priors.length - 1; index++) {
    rest -= priors[index] ?? 0;
    if (rest < 0) return index;
  }
  return priors.length - 1;
}

/** When the awaited thing happens, Unix milliseconds; Infinity for other kinds. */
export function happensAt(source: TruthSource): number {
  if (source.truth.kind !== "hazard") return Number.POSITIVE_INFINITY;
  return (
    source.openAt - (Math.log(uniform(source.seed, source.underlying, Draw.happensAt)) / source.truth.perDay) * DAY_MS
  );
}

/** Probability in [0, 1] that the claim comes true, given what is known at `at`. */
export function trueProbability(source: TruthSource, claim: Claim, at: number): number {
  return probabilityAt(source, claim, at, BRIDGE_DEPTH);
}

/** The same to about a hundredth and for a third of the cost: the path of the news is followed in large steps only. */
export function roughProbability(source: TruthSource, claim: Claim, at: number): number {
  return probabilityAt(source, claim, at, ROUGH_DEPTH);
}

function probabilityAt(source: TruthSource, claim: Claim, at: number, depth: number): number {
  const { truth } = source;
  if (truth.kind === "hazard") {
    const deadline = claim.kind === "before" ? claim.deadline : source.revealAt;
    const happens = happensAt(source);
    if (happens <= Math.min(at, deadline)) return 1;
    return at >= deadline ? 0 : 1 - Math.exp((-truth.perDay * (deadline - Math.max(at, source.openAt))) / DAY_MS);
  }
  const v = newsShare(source, at);
  if (truth.kind === "numeric") {
    if (claim.kind !== "range") throw new Error("a number is asked about by ranges");
    const [expected = 0] = beliefs(source, v, depth);
    if (v >= 1) return expected > claim.above && expected <= claim.upTo ? 1 : 0;
    const left = truth.deviation * Math.sqrt(1 - v);
    return normalCdf((claim.upTo - expected) / left) - normalCdf((claim.above - expected) / left);
  }
  if (claim.kind !== "outcome") throw new Error("a choice is asked about by outcome");
  if (v >= 1) return claim.index === winner(source) ? 1 : 0;
  return beliefs(source, v, depth)[claim.index] ?? 0;
}

interface Believed {
  readonly source: TruthSource;
  readonly v: number;
  readonly depth: number;
  readonly values: readonly number[];
}

/** The questions of one event are asked one after the other, at the same few instants. */
const believed: (Believed | undefined)[] = new Array(BELIEVED_MAX);

/** What is known after the share `v` of the news: the expected number, or each outcome's probability. */
function beliefs(source: TruthSource, v: number, depth: number): readonly number[] {
  const place = (Math.imul(source.underlying, 0x9e3779b1) ^ Math.floor(v * 0x40000000) ^ depth) >>> 0;
  const known = believed[place % BELIEVED_MAX];
  if (known !== undefined && known.source === source && known.v === v && known.depth === depth) return known.values;
  const { truth } = source;
  const values =
    truth.kind === "numeric"
      ? [truth.mean + truth.deviation * newsOf(source, 1).moveTo(v, depth).value(0)]
      : truth.kind === "categorical"
        ? posterior(source, truth, v, depth)
        : [];
  believed[place % BELIEVED_MAX] = { source, v, depth, values };
  return values;
}

/** The event asked about last. The next question is most often about it too, at an instant nearby. */
let news: { readonly source: TruthSource; readonly paths: BrownianPaths } | null = null;

function newsOf(source: TruthSource, count: number): BrownianPaths {
  if (news?.source === source) return news.paths;
  const { seed, underlying, truth } = source;
  const first = truth.kind === "numeric" ? 0 : 1;
  const keys = Array.from({ length: count }, (_, path) => hashKeys(seed, underlying, Draw.bridge, first + path));
  const paths = new BrownianPaths(keys, BRIDGE_DEPTH);
  news = { source, paths };
  return paths;
}

/** Bayes' rule for a constant drift hidden in Brownian noise: log-odds move by strength times the observed path. */
function posterior(
  source: TruthSource,
  truth: Extract<Truth, { kind: "categorical" }>,
  v: number,
  depth: number,
): number[] {
  const answer = winner(source);
  const paths = newsOf(source, truth.priors.length).moveTo(v, depth);
  const weights = truth.priors.map((prior, index) => {
    const drift = index === answer ? truth.strength * v : 0;
    return prior * Math.exp(truth.strength * (drift + paths.value(index)));
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
