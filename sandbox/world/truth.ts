import { DAY_MS } from "../../src/lib/durations.ts";
import { BrownianPaths } from "./brownian.ts";
import { extendHash, hashKeys, normalCdf, uniform, uniformFromHash } from "./random.ts";

/**
 * Model of the outcome of an event and of the arrival of information about it. For every model, the probability given
 * all information up to a time is an exact martingale. So it is calibrated: 30% of the questions with probability 0.3
 * resolve YES.
 */
export type OutcomeModel =
  /** Exactly one outcome wins. Information makes the winner more likely; `strength` is its signal-to-noise ratio. */
  | { readonly kind: "categorical"; readonly priors: readonly number[]; readonly strength: number }
  /** A normally distributed number is published at the close. Its expected value is a random walk until then. */
  | { readonly kind: "numeric"; readonly mean: number; readonly deviation: number }
  /** The event occurs after an exponentially distributed time with rate `perDay`. */
  | { readonly kind: "hazard"; readonly perDay: number };

/** Condition under which a market resolves YES. */
export type PositiveCriterion =
  /** Outcome `index` wins. */
  | { readonly kind: "outcome"; readonly index: number }
  /** The number is in (above, upTo]. */
  | { readonly kind: "range"; readonly above: number; readonly upTo: number }
  /** The event occurs by the deadline, Unix milliseconds. */
  | { readonly kind: "before"; readonly deadline: number }
  /** One of the two events occurs by the deadline. Both processes have hazard models and open at the same time. */
  | { readonly kind: "either"; readonly deadline: number; readonly other: OutcomeProcess }
  /** The event occurs by the deadline and before the other event. */
  | { readonly kind: "first"; readonly deadline: number; readonly other: OutcomeProcess };

export type ResolutionCriterion =
  | PositiveCriterion
  /** The market resolves YES if the criterion is not met. */
  | { readonly kind: "not"; readonly criterion: PositiveCriterion };

/** The random process that determines the outcome of one real-world event. */
export interface OutcomeProcess {
  readonly seed: number;
  /** Number of the real-world event; equal on all venues. */
  readonly underlying: number;
  readonly model: OutcomeModel;
  /** Unix milliseconds. */
  readonly openAt: number;
  /** When the outcome becomes known, Unix milliseconds. */
  readonly revealAt: number;
}

/** Path resolution 2^-14: steps of about 18 minutes in a market of 200 days. */
const BISECTIONS = 14;
const BISECTIONS_APPROXIMATE = 5;
/** Number of entries in the belief cache of all events. */
const CACHED_BELIEFS_MAX = 4_096;
const JUMP_COUNT = 5;
/** Share of the total information that arrives in jumps. */
const JUMPS_SHARE = 0.3;
/** Share of the total information that arrives at `revealAt`. */
const REVEAL_SHARE = 0.2;

/** Hash keys by purpose of the random number. */
const Draw = { path: 1, jumpAt: 2, winner: 3, occursAt: 4 } as const;

/** Returns the share of the information that is available at `at`: a linear part, jumps, and the rest at `revealAt`. */
function informationShareAt(process: OutcomeProcess, at: number): number {
  if (at >= process.revealAt) return 1;
  const elapsed = (at - process.openAt) / (process.revealAt - process.openAt);
  if (elapsed <= 0) return 0;
  let share = (1 - JUMPS_SHARE - REVEAL_SHARE) * elapsed;
  const key = hashKeys(process.seed, process.underlying, Draw.jumpAt);
  for (let jump = 0; jump < JUMP_COUNT; jump++) {
    if (elapsed >= uniformFromHash(extendHash(key, jump))) share += JUMPS_SHARE / JUMP_COUNT;
  }
  return share;
}

/** Returns the index of the winning outcome, or -1 if the model is not categorical. */
function winningOutcomeOf(process: OutcomeProcess): number {
  if (process.model.kind !== "categorical") return -1;
  let remainingProbability = uniform(process.seed, process.underlying, Draw.winner);
  const { priors } = process.model;
  for (let index = 0; index < priors.length - 1; index++) {
    remainingProbability -= priors[index] ?? 0;
    if (remainingProbability < 0) return index;
  }
  return priors.length - 1;
}

/** Returns when the event of a hazard model occurs, Unix milliseconds, or Infinity for other models. */
function occurrenceTimeOf({ seed, underlying, model, openAt }: OutcomeProcess): number {
  if (model.kind !== "hazard") return Number.POSITIVE_INFINITY;
  return openAt - (Math.log(uniform(seed, underlying, Draw.occursAt)) / model.perDay) * DAY_MS;
}

/** Returns the deadline of a criterion on a hazard model, Unix milliseconds; null for other criteria. */
export function deadlineOf(criterion: ResolutionCriterion): number | null {
  if (criterion.kind === "not") return deadlineOf(criterion.criterion);
  return "deadline" in criterion ? criterion.deadline : null;
}

/**
 * Returns the time before the deadline at which a hazard model decides the criterion, Unix milliseconds, or Infinity.
 */
export function decisionTimeOf(process: OutcomeProcess, criterion: ResolutionCriterion): number {
  if (criterion.kind === "not") return decisionTimeOf(process, criterion.criterion);
  const occursAt = occurrenceTimeOf(process);
  return "other" in criterion ? Math.min(occursAt, occurrenceTimeOf(criterion.other)) : occursAt;
}

/** Approximates `trueProbability` with larger steps: error about 0.01, a third of the cost. */
export function approximateProbability(process: OutcomeProcess, criterion: ResolutionCriterion, at: number): number {
  return trueProbability(process, criterion, at, BISECTIONS_APPROXIMATE);
}

/** Returns the probability that the market resolves YES, given all information up to `at`; in [0, 1]. */
export function trueProbability(
  process: OutcomeProcess,
  criterion: ResolutionCriterion,
  at: number,
  bisections = BISECTIONS,
): number {
  const { model } = process;
  if (criterion.kind === "not") return 1 - trueProbability(process, criterion.criterion, at, bisections);
  if (model.kind === "hazard") return hazardProbability(process, model.perDay, criterion, at);
  const share = informationShareAt(process, at);
  if (model.kind === "numeric") {
    if (criterion.kind !== "range") throw new Error("a numeric model requires range criteria");
    const [expected = 0] = getBeliefs(process, share, bisections);
    if (share >= 1) return expected > criterion.above && expected <= criterion.upTo ? 1 : 0;
    const deviation = model.deviation * Math.sqrt(1 - share);
    return normalCdf((criterion.upTo - expected) / deviation) - normalCdf((criterion.above - expected) / deviation);
  }
  if (criterion.kind !== "outcome") throw new Error("a categorical model requires outcome criteria");
  if (share >= 1) return criterion.index === winningOutcomeOf(process) ? 1 : 0;
  return getBeliefs(process, share, bisections)[criterion.index] ?? 0;
}

/** The rates of two exponential times add up, and each is the first with a probability proportional to its rate. */
function hazardProbability(process: OutcomeProcess, perDay: number, criterion: PositiveCriterion, at: number): number {
  if (!("deadline" in criterion)) throw new Error("a hazard model requires criteria with a deadline");
  const { kind, deadline } = criterion;
  const other = kind === "before" ? null : criterion.other;
  const occursAt = occurrenceTimeOf(process);
  const otherOccursAt = other === null ? Number.POSITIVE_INFINITY : occurrenceTimeOf(other);
  if (Math.min(occursAt, otherOccursAt) <= Math.min(at, deadline))
    return kind === "first" && otherOccursAt <= occursAt ? 0 : 1;
  if (at >= deadline) return 0;
  const otherPerDay = other?.model.kind === "hazard" ? other.model.perDay : 0;
  const totalPerDay = perDay + otherPerDay;
  const decided = 1 - Math.exp((-totalPerDay * (deadline - Math.max(at, process.openAt))) / DAY_MS);
  return kind === "first" ? (decided * perDay) / totalPerDay : decided;
}

interface CachedBeliefs {
  readonly process: OutcomeProcess;
  readonly share: number;
  readonly bisections: number;
  readonly values: readonly number[];
}

/** Direct-mapped cache. It is effective because the markets of one event are usually evaluated at equal times. */
const beliefCache: (CachedBeliefs | undefined)[] = new Array(CACHED_BELIEFS_MAX);

/** Returns the expected number, or the probability of each outcome, given a share of the information. */
function getBeliefs(process: OutcomeProcess, share: number, bisections: number): readonly number[] {
  const hash = (Math.imul(process.underlying, 0x9e3779b1) ^ Math.floor(share * 0x40000000) ^ bisections) >>> 0;
  const cached = beliefCache[hash % CACHED_BELIEFS_MAX];
  if (cached?.process === process && cached.share === share && cached.bisections === bisections) return cached.values;
  const { model } = process;
  const values =
    model.kind === "numeric"
      ? [model.mean + model.deviation * pathsOf(process, 1).moveTo(share, bisections).value(0)]
      : model.kind === "categorical"
        ? computePosterior(process, model, share, bisections)
        : [];
  beliefCache[hash % CACHED_BELIEFS_MAX] = { process, share, bisections, values };
  return values;
}

/** Paths of the last evaluated event, cached because consecutive calls usually evaluate the same event. */
let lastPaths: { readonly process: OutcomeProcess; readonly paths: BrownianPaths } | null = null;

function pathsOf(process: OutcomeProcess, count: number): BrownianPaths {
  if (lastPaths?.process === process) return lastPaths.paths;
  const { seed, underlying, model } = process;
  const firstPathNumber = model.kind === "numeric" ? 0 : 1;
  const keys = Array.from({ length: count }, (_, path) =>
    hashKeys(seed, underlying, Draw.path, firstPathNumber + path),
  );
  const paths = new BrownianPaths(keys, BISECTIONS);
  lastPaths = { process, paths };
  return paths;
}

/** Applies Bayes' rule for a constant drift with Brownian noise: log-odds change by strength times observed path. */
function computePosterior(
  process: OutcomeProcess,
  model: Extract<OutcomeModel, { kind: "categorical" }>,
  share: number,
  bisections: number,
): number[] {
  const winner = winningOutcomeOf(process);
  const paths = pathsOf(process, model.priors.length).moveTo(share, bisections);
  const weights = model.priors.map((prior, index) => {
    const drift = index === winner ? model.strength * share : 0;
    return prior * Math.exp(model.strength * (drift + paths.value(index)));
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
