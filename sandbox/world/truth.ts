import { BrownianPaths } from "./brownian.ts";
import { extendHash, hashKeys, normalCdf, uniform, uniformFromHash } from "./random.ts";

/**
 * How the outcome of an event is drawn and how information about it arrives. For every model, the probability given all
 * information up to a time is an exact martingale, so it is calibrated: 30% of the questions with probability 0.3 end in
 * YES.
 */
export type OutcomeModel =
  /** Exactly one outcome wins. Information makes the winner more likely; `strength` is its signal-to-noise ratio. */
  | { readonly kind: "categorical"; readonly priors: readonly number[]; readonly strength: number }
  /** A normally distributed number is published at the close. Its expected value is a random walk until then. */
  | { readonly kind: "numeric"; readonly mean: number; readonly deviation: number }
  /** Something happens after an exponentially distributed time with rate `perDay`. */
  | { readonly kind: "hazard"; readonly perDay: number };

/** When a market resolves YES: outcome `index` wins, the number is in (above, upTo], or it happens by the deadline. */
export type ResolutionCriterion =
  | { readonly kind: "outcome"; readonly index: number }
  | { readonly kind: "range"; readonly above: number; readonly upTo: number }
  | { readonly kind: "before"; readonly deadline: number };

/** The random process that determines the outcome of one real-world event. */
export interface OutcomeProcess {
  readonly seed: number;
  /** Number of the real-world event; equal on all venues. */
  readonly underlying: number;
  readonly model: OutcomeModel;
  /** Unix milliseconds. */
  readonly openAt: number;
  /** When the outcome becomes known. */
  readonly revealAt: number;
}

const DAY_MS = 86_400_000;
/** Path resolution 2^-14: steps of about 18 minutes in a market of 200 days. */
const BISECTIONS = 14;
const BISECTIONS_APPROXIMATE = 5;
/** Entries of the belief cache, over all events. */
const CACHED_BELIEFS_MAX = 4_096;
const JUMPS = 5;
/** Shares of the total information that arrive in jumps, and at the reveal. */
const JUMP_SHARE = 0.3;
const REVEAL_SHARE = 0.2;

/** Hash key per kind of random draw. */
const Draw = { path: 1, jumpAt: 2, winner: 3, occursAt: 4 } as const;

/** Share of the total information that is available at `at`: a steady flow, a few jumps, and a final jump at the reveal. */
function informationShare(process: OutcomeProcess, at: number): number {
  if (at >= process.revealAt) return 1;
  const elapsed = (at - process.openAt) / (process.revealAt - process.openAt);
  if (elapsed <= 0) return 0;
  let share = (1 - JUMP_SHARE - REVEAL_SHARE) * elapsed;
  const key = hashKeys(process.seed, process.underlying, Draw.jumpAt);
  for (let jump = 0; jump < JUMPS; jump++) {
    if (elapsed >= uniformFromHash(extendHash(key, jump))) share += JUMP_SHARE / JUMPS;
  }
  return share;
}

/** Index of the outcome that wins; -1 for other models. */
function winningOutcome(process: OutcomeProcess): number {
  if (process.model.kind !== "categorical") return -1;
  let rest = uniform(process.seed, process.underlying, Draw.winner);
  const { priors } = process.model;
  for (let index = 0; index < priors.length - 1; index++) {
    rest -= priors[index] ?? 0;
    if (rest < 0) return index;
  }
  return priors.length - 1;
}

/** When a hazard event occurs, Unix milliseconds; Infinity for other models. */
export function occursAt({ seed, underlying, model, openAt }: OutcomeProcess): number {
  if (model.kind !== "hazard") return Number.POSITIVE_INFINITY;
  return openAt - (Math.log(uniform(seed, underlying, Draw.occursAt)) / model.perDay) * DAY_MS;
}

/** `trueProbability` with an error of about 0.01 at a third of the cost: follows the random path in larger steps. */
export function approximateProbability(process: OutcomeProcess, criterion: ResolutionCriterion, at: number): number {
  return trueProbability(process, criterion, at, BISECTIONS_APPROXIMATE);
}

/** Probability in [0, 1] that the market resolves YES, given all information up to `at`. */
export function trueProbability(
  process: OutcomeProcess,
  criterion: ResolutionCriterion,
  at: number,
  bisections = BISECTIONS,
): number {
  const { model } = process;
  if (model.kind === "hazard") {
    const deadline = criterion.kind === "before" ? criterion.deadline : process.revealAt;
    if (occursAt(process) <= Math.min(at, deadline)) return 1;
    return at >= deadline ? 0 : 1 - Math.exp((-model.perDay * (deadline - Math.max(at, process.openAt))) / DAY_MS);
  }
  const share = informationShare(process, at);
  if (model.kind === "numeric") {
    if (criterion.kind !== "range") throw new Error("a numeric model requires range criteria");
    const [expected = 0] = beliefs(process, share, bisections);
    if (share >= 1) return expected > criterion.above && expected <= criterion.upTo ? 1 : 0;
    const deviation = model.deviation * Math.sqrt(1 - share);
    return normalCdf((criterion.upTo - expected) / deviation) - normalCdf((criterion.above - expected) / deviation);
  }
  if (criterion.kind !== "outcome") throw new Error("a categorical model requires outcome criteria");
  if (share >= 1) return criterion.index === winningOutcome(process) ? 1 : 0;
  return beliefs(process, share, bisections)[criterion.index] ?? 0;
}

interface CachedBeliefs {
  readonly process: OutcomeProcess;
  readonly share: number;
  readonly bisections: number;
  readonly values: readonly number[];
}

/** Direct-mapped cache: the markets of one event are usually evaluated at the same times. */
const beliefCache: (CachedBeliefs | undefined)[] = new Array(CACHED_BELIEFS_MAX);

/** The belief after a share of the information: the expected number, or the probability of each outcome. */
function beliefs(process: OutcomeProcess, share: number, bisections: number): readonly number[] {
  const hash = (Math.imul(process.underlying, 0x9e3779b1) ^ Math.floor(share * 0x40000000) ^ bisections) >>> 0;
  const cached = beliefCache[hash % CACHED_BELIEFS_MAX];
  if (cached?.process === process && cached.share === share && cached.bisections === bisections) return cached.values;
  const { model } = process;
  const values =
    model.kind === "numeric"
      ? [model.mean + model.deviation * pathsOf(process, 1).moveTo(share, bisections).value(0)]
      : model.kind === "categorical"
        ? posterior(process, model, share, bisections)
        : [];
  beliefCache[hash % CACHED_BELIEFS_MAX] = { process, share, bisections, values };
  return values;
}

/** Paths of the most recently evaluated event: consecutive calls usually concern the same event at a nearby time. */
let lastPaths: { readonly process: OutcomeProcess; readonly paths: BrownianPaths } | null = null;

function pathsOf(process: OutcomeProcess, count: number): BrownianPaths {
  if (lastPaths?.process === process) return lastPaths.paths;
  const { seed, underlying, model } = process;
  const first = model.kind === "numeric" ? 0 : 1;
  const keys = Array.from({ length: count }, (_, path) => hashKeys(seed, underlying, Draw.path, first + path));
  const paths = new BrownianPaths(keys, BISECTIONS);
  lastPaths = { process, paths };
  return paths;
}

/** Bayes' rule for a constant drift observed with Brownian noise: log-odds change by strength times the observed path. */
function posterior(
  process: OutcomeProcess,
  model: Extract<OutcomeModel, { kind: "categorical" }>,
  share: number,
  bisections: number,
): number[] {
  const winner = winningOutcome(process);
  const paths = pathsOf(process, model.priors.length).moveTo(share, bisections);
  const weights = model.priors.map((prior, index) => {
    const drift = index === winner ? model.strength * share : 0;
    return prior * Math.exp(model.strength * (drift + paths.value(index)));
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
