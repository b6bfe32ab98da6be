import { type ResearchView, toLogOdds } from "../../../engine/index.ts";
import { listSources, type Source } from "./ask-beliefs.ts";
import { isSameClaim } from "./duplicates.ts";
import { claimEffect, mergeClaims, sourceEffect } from "./evidence.ts";
import type { Claim, ResearchDocument, ResearchLimits, ResearchOutcome, SourceReading, Trial } from "./model.ts";
import { INFLUENCE_MAX, POOL_COEFFICIENTS, type PoolCoefficients, type PooledEstimate, poolTrials } from "./pool.ts";
import { detectsInjection } from "./suspicion.ts";

const KEY_CLAIMS_MAX = 8;

/** The part of the outcome that is computed from the trials. */
export type TrialsSummary = Pick<ResearchOutcome, "risks" | "sourceCount" | "ensemble"> & {
  readonly research: ResearchView;
};

/**
 * Pools the trials that have a blind belief.
 *
 * @param at  end of the research, Unix milliseconds
 * @throws RangeError if no trial has one
 */
export function summariseTrials(
  trials: readonly Trial[],
  documents: readonly ResearchDocument[],
  limits: ResearchLimits,
  at: number,
  coefficients: PoolCoefficients = POOL_COEFFICIENTS,
): TrialsSummary {
  const answered = trials.filter(({ blind }) => blind !== null);
  const read = new Set(answered.flatMap(({ readings }) => readings.map(({ sourceId }) => sourceId)));
  const readSources = listSources(documents, limits).filter(({ id }) => read.has(id));
  const injecting = findInjectingSources(readSources, answered);
  const sources = readSources.filter((source) => !injecting.includes(source));
  const pool = poolTrials(
    answered.map((trial) => ({
      blind: toLogOdds(trial.blind?.probability ?? 0.5),
      effects: sources.map((source) => effectOf(source, trial)),
    })),
    coefficients,
  );
  const keyClaims = sources
    .flatMap((source, index) => keyClaimOf(source, answered, pool.sourceEffects[index] ?? 0) ?? [])
    .sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect))
    .slice(0, KEY_CLAIMS_MAX);
  return {
    research: {
      at,
      probability: pool.probability,
      standardError: pool.standardError,
      trials: answered.length,
      evidence: keyClaims.map(describeClaim),
    },
    risks: [...listRisks(pool, sources, documents), ...injecting.map(describeInjection)],
    sourceCount: sources.length,
    ensemble: pool.trials,
  };
}

const readingOf = (source: Source, { readings }: Trial): SourceReading | undefined =>
  readings.find(({ sourceId }) => sourceId === source.id);

function effectOf(source: Source, trial: Trial): number | null {
  const reading = readingOf(source, trial);
  return reading === undefined ? null : sourceEffect(reading.belief, reading.shown);
}

/** Sources with a suspected prompt injection (`detectsInjection`). They get no weight. */
function findInjectingSources(sources: readonly Source[], trials: readonly Trial[]): Source[] {
  const meanEffects = sources.map((source) => {
    const effects = trials.flatMap((trial) => effectOf(source, trial) ?? []);
    return effects.reduce((sum, effect) => sum + effect, 0) / Math.max(1, effects.length);
  });
  return sources.filter((source, index) =>
    detectsInjection(
      trials.flatMap((trial) => {
        const reading = readingOf(source, trial);
        return reading === undefined ? [] : [{ shown: reading.shown, stated: reading.belief.probability }];
      }),
      meanEffects.filter((_, other) => other !== index),
    ),
  );
}

const describeInjection = ({ documents }: Source): string =>
  `After reading ${documents[0]?.host ?? "one source"} all trials stated nearly the same extreme probability, against the other sources. The page may try to influence the model. It has no weight in this analysis.`;

/** The claim that most trials made about a source, among the claims in the direction of its effect. */
function keyClaimOf(source: Source, trials: readonly Trial[], effect: number) {
  const claims = trials.flatMap(({ readings }) =>
    readings.filter(({ sourceId }) => sourceId === source.id).flatMap(({ belief }) => mergeClaims(belief.evidence)),
  );
  const candidates = claims.filter((claim) => claimEffect(claim) * effect > 0);
  const votesOf = (claim: Claim): number => candidates.filter(({ text }) => isSameClaim(text, claim.text)).length;
  const [best] = candidates
    .map((claim) => ({ claim, votes: votesOf(claim) }))
    .sort((a, b) => b.votes - a.votes)
    .map(({ claim }) => claim);
  if (best === undefined) return null;
  const host = source.documents.find(({ id }) => id === best.documentId)?.host ?? "unknown";
  return { ...best, host, effect };
}

function describeClaim({
  text,
  direction,
  strength,
  host,
  effect,
}: NonNullable<ReturnType<typeof keyClaimOf>>): string {
  const sign = effect > 0 ? "+" : "−";
  return `${host}: ${text.replace(/[.\s]+$/, "")} (${strength} evidence for ${direction.toUpperCase()}, ${sign}${Math.abs(effect).toFixed(2)} in log-odds)`;
}

function listRisks(pool: PooledEstimate, sources: readonly Source[], documents: readonly ResearchDocument[]): string[] {
  const risks: string[] = [];
  const instructing = new Set(documents.filter(({ excluded }) => excluded === "instructs").map(({ host }) => host));
  for (const host of instructing)
    risks.push(`A page of ${host} contains instructions to an automated reader. It has no weight in this analysis.`);
  if (sources.length === 0)
    risks.push("No source could be read. The research rests on the general knowledge of the language model alone.");
  const { mostInfluential } = pool;
  if (mostInfluential !== null && mostInfluential.unboundedMove > INFLUENCE_MAX) {
    const host = sources[mostInfluential.source]?.documents[0]?.host ?? "one source";
    risks.push(
      `Low confidence: without ${host} the unbounded estimate would move by ${mostInfluential.unboundedMove.toFixed(2)}. Its effect was limited to ${mostInfluential.move.toFixed(2)}.`,
    );
  }
  return risks;
}
