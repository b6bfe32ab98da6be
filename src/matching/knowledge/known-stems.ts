/** The words of the tables, as stems. */
import { stemOf, stemsOf } from "../text/words.ts";
import { allNames, impliedWords, officeWords, partyWords, placeWords, stateWords } from "./names.ts";

function partsOf(word: string, name: string): (readonly [string, readonly string[]])[] {
  const parts = stemsOf(name.toLowerCase());
  return parts.length < 2 ? [] : [[stemOf(word), parts]];
}

const stemsIn = (words: readonly string[]): ReadonlySet<string> => new Set(words.map(stemOf));

function loadStems() {
  return {
    /** The stems of the parts of each word that stands for several: fifaworldcup is fifa, world, cup. */
    parts: new Map(allNames().flatMap(({ word, name }) => partsOf(word, name))) as ReadonlyMap<
      string,
      readonly string[]
    >,
    places: stemsIn(placeWords()),
    offices: stemsIn(officeWords()),
    parties: stemsIn(partyWords()),
    /** Stem of each US state by its postal code in lower case. */
    states: new Map([...stateWords()].map(([code, word]) => [code, stemOf(word)])) as ReadonlyMap<string, string>,
    /** Stems that a name implies: "Modi" is the prime minister of India. */
    implied: new Map([...impliedWords()].map(([word, of]) => [stemOf(word), stemsIn(of)])),
  };
}

let stems: ReturnType<typeof loadStems> | null = null;
/** Creates the sets at the first use, because most threads match no text. */
export const knownStems = (): ReturnType<typeof loadStems> => {
  stems ??= loadStems();
  return stems;
};
