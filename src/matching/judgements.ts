import { logit, sigmoid } from "../lib/numbers.ts";
import type { MatchJudgement, MatchRelation } from "./model.ts";

/**
 * Log-odds by which a judgement raises or lowers the probability of a link: it counts like a test that is right 19
 * times of 20.
 */
const JUDGEMENT_LOG_ODDS = Math.log(19);

/** The judgements of pairs of markets. A judgement is kept until one of its markets is removed. */
export class Judgements {
  /** By both ids. */
  readonly #byId = new Map<string, Map<string, MatchJudgement>>();

  /** Adds or replaces a judgement, or removes it if its relation is null. */
  set(judgement: MatchJudgement): void {
    const { a, b, relation } = judgement;
    for (const [id, otherId] of [
      [a, b],
      [b, a],
    ] as const) {
      const known = this.#byId.get(id) ?? new Map<string, MatchJudgement>();
      if (relation === null) known.delete(otherId);
      else known.set(otherId, judgement);
      if (known.size === 0) this.#byId.delete(id);
      else this.#byId.set(id, known);
    }
  }

  /** Removes all judgements of a market. */
  remove(id: string): void {
    for (const judgement of [...(this.#byId.get(id)?.values() ?? [])]) this.set({ ...judgement, relation: null });
  }

  find(id: string, otherId: string): MatchJudgement | undefined {
    return this.#byId.get(id)?.get(otherId);
  }

  /** Returns the probability of a relation in the light of the judgement of both markets, if there is one. */
  adjust(probability: number, relation: MatchRelation, ids: readonly [string, string]): number {
    const judgement = this.find(...ids);
    if (judgement === undefined) return probability;
    const change = judgement.relation === relation ? JUDGEMENT_LOG_ODDS : -JUDGEMENT_LOG_ODDS;
    return sigmoid(logit(probability) + change);
  }
}
