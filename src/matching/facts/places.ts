/** Finds the countries and US states in a title. */
import { normaliseText, stemsOf } from "../text/words.ts";

const US_STATES: ReadonlyMap<string, string> = new Map(
  "AL Alabama, AK Alaska, AZ Arizona, AR Arkansas, CA California, CO Colorado, CT Connecticut, DE Delaware, FL Florida, GA Georgia, HI Hawaii, ID Idaho, IL Illinois, IN Indiana, IA Iowa, KS Kansas, KY Kentucky, LA Louisiana, ME Maine, MD Maryland, MA Massachusetts, MI Michigan, MN Minnesota, MS Mississippi, MO Missouri, MT Montana, NE Nebraska, NV Nevada, NH New Hampshire, NJ New Jersey, NM New Mexico, NY New York, NC North Carolina, ND North Dakota, OH Ohio, OK Oklahoma, OR Oregon, PA Pennsylvania, RI Rhode Island, SC South Carolina, SD South Dakota, TN Tennessee, TX Texas, UT Utah, VT Vermont, VA Virginia, WA Washington, WV West Virginia, WI Wisconsin, WY Wyoming"
    .split(", ")
    .map((entry) => [entry.slice(0, 2).toLowerCase(), entry.slice(3)]),
);
const OTHER_PLACES =
  "England,Scotland,Wales,Greenland,Kosovo,Gaza,West Bank,Crimea,European Union,Europe,Tibet,Catalonia";
/** The United States is often implied: "inflation" in one title can mean "US inflation". */
const IMPLIED_PLACE = "usa";

const placeKey = (name: string): string => stemsOf(normaliseText(name)).join(" ");

function createPlaceKeys(): ReadonlySet<string> {
  const names = new Intl.DisplayNames(["en"], { type: "region" });
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const countries = [...letters].flatMap((first) => [...letters].map((second) => names.of(first + second) ?? ""));
  const all = [...countries, ...US_STATES.values(), ...OTHER_PLACES.split(",")];
  const keys = all
    .filter((name) => name.length > 3)
    .map(placeKey)
    .filter((key) => key.length > 2 && key !== IMPLIED_PLACE);
  return new Set(keys);
}

function createPlaces() {
  const keys = createPlaceKeys();
  return {
    keys,
    stateKeys: new Map([...US_STATES].map(([code, name]) => [code, placeKey(name)])) as ReadonlyMap<string, string>,
    firstWords: new Set([...keys].map((key) => key.split(" ")[0])),
  };
}

let places: ReturnType<typeof createPlaces> | null = null;
/** Creates the sets at the first use, because most threads match no text. */
const loadPlaces = () => {
  places ??= createPlaces();
  return places;
};

const PLACE_WORDS_MAX = 3;

/** Returns the state of each congressional district in a normalised text: "ak-al" is in Alaska. */
export function findDistrictStates(normalised: string): readonly string[] {
  const { stateKeys } = loadPlaces();
  return [...normalised.matchAll(/\b([a-z]{2})-(?:[0-9]{1,2}|al)\b/g)].flatMap(([, code]) => {
    const state = stateKeys.get(code ?? "");
    return state === undefined ? [] : [state];
  });
}

/** Returns the places in a sequence of stems, as stems joined by a space. The longest of overlapping names is used. */
export function findPlaces(stems: readonly string[]): readonly string[] {
  const { keys, firstWords } = loadPlaces();
  const found = new Set<string>();
  for (let index = 0; index < stems.length; index++) {
    if (!firstWords.has(stems[index])) continue;
    for (let length = Math.min(PLACE_WORDS_MAX, stems.length - index); length > 0; length--) {
      const key = stems.slice(index, index + length).join(" ");
      if (!keys.has(key)) continue;
      found.add(key);
      index += length - 1;
      break;
    }
  }
  return [...found];
}
