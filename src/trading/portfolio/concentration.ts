/** Concentration of stakes by question and event. */

export interface QuestionStake {
  /** Markets that always resolve alike or opposite share a question; null for a settled market. */
  readonly question: number | null;
  /** Whether the stake pays if the question resolves YES. */
  readonly paysOnYes: boolean;
  /** Cost of the stake in USD, at least 0. */
  readonly stakeUsd: number;
  /** Contracts that pay $1 each, at least 0. */
  readonly contracts: number;
  readonly eventKey: string;
}

/**
 * Herfindahl index of the amounts at risk by event: the sum of the squared shares, from 1/n for n equal events to 1; 0
 * without an amount. The amount at risk in a question is the loss in its worse outcome: the stakes minus the payout of
 * the contracts that then win. Stakes on YES and NO of a question therefore offset each other. Events that share a
 * question count as one event.
 *
 * @see Herfindahl (1950), "Concentration in the steel industry"
 */
export function concentrationOf(stakes: readonly QuestionStake[]): number {
  const groups = new Map<string, string>();
  const rootOf = (key: string): string => {
    const parent = groups.get(key) ?? key;
    return parent === key ? key : rootOf(parent);
  };
  const keysOfQuestions = new Map<number, string>();
  const open = new Map<number, QuestionStake[]>();
  const amounts: { readonly key: string; readonly usd: number }[] = [];
  for (const stake of stakes) {
    const { question, eventKey, stakeUsd } = stake;
    if (question === null) {
      amounts.push({ key: eventKey, usd: stakeUsd });
      continue;
    }
    const known = keysOfQuestions.get(question);
    if (known === undefined) keysOfQuestions.set(question, eventKey);
    else if (rootOf(known) !== rootOf(eventKey)) groups.set(rootOf(eventKey), rootOf(known));
    open.set(question, [...(open.get(question) ?? []), stake]);
  }
  for (const [question, own] of open) amounts.push({ key: keysOfQuestions.get(question) ?? "", usd: atRiskUsd(own) });
  const byEvent = new Map<string, number>();
  for (const { key, usd } of amounts) byEvent.set(rootOf(key), (byEvent.get(rootOf(key)) ?? 0) + usd);
  const total = [...byEvent.values()].reduce((sum, usd) => sum + usd, 0);
  if (total === 0) return 0;
  return [...byEvent.values()].reduce((sum, usd) => sum + (usd / total) ** 2, 0);
}

function atRiskUsd(stakes: readonly QuestionStake[]): number {
  const paid = stakes.reduce((sum, { stakeUsd }) => sum + stakeUsd, 0);
  const payout = (onYes: boolean): number =>
    stakes.reduce((sum, { paysOnYes, contracts }) => sum + (paysOnYes === onYes ? contracts : 0), 0);
  return Math.max(0, paid - Math.min(payout(true), payout(false)));
}
