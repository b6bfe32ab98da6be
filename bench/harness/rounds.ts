/**
 * Runs contenders alternately (A B, B A, A B ...), so that other load on the machine affects all contenders equally.
 * Returns the samples of each contender in the order of the rounds.
 */
export async function interleave<Name extends string, Sample>(
  rounds: number,
  contenders: Readonly<Record<Name, (round: number) => Promise<Sample>>>,
): Promise<Record<Name, Sample[]>> {
  const names = Object.keys(contenders) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Sample[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) samples[name].push(await contenders[name](round));
  }
  return samples;
}
