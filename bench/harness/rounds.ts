/**
 * Runs contenders in turns, A B, B A, A B ..., so that whatever else the machine does meets each of them alike. The
 * samples are in the order of the rounds.
 */
export async function interleave<Name extends string>(
  rounds: number,
  contenders: Readonly<Record<Name, (round: number) => Promise<number>>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(contenders) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) samples[name].push(await contenders[name](round));
  }
  return samples;
}
