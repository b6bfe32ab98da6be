/** The categories of this service. `categoryOf` maps every venue category to one of them. */
export const CATEGORIES = [
  "Politics",
  "Economics",
  "Finance",
  "Crypto",
  "Sports",
  "Science",
  "Technology",
  "Culture",
  "Weather",
  "World",
  "Companies",
  "Other",
] as const;

export type Category = (typeof CATEGORIES)[number];

/** Venues' names for each category, in lower case. A name has the same meaning at every venue. */
const NAMES: Readonly<Record<Category, readonly string[]>> = {
  Politics: ["politics", "elections", "us politics", "us elections", "trump", "us-current-affairs"],
  Economics: ["economics", "economy", "inflation", "fed", "fed rates", "macro"],
  Finance: ["finance", "financials", "stocks", "indices", "commodities", "forex"],
  Crypto: ["crypto", "cryptocurrency", "bitcoin", "ethereum", "nfts", "defi", "token launches"],
  Sports: [
    ...["sports", "esports", "football", "football matches", "soccer", "basketball", "baseball", "hockey", "tennis"],
    ...["nfl", "nba", "mlb", "nhl", "ufc", "mma", "golf", "cricket", "formula 1", "chess", "olympics", "props"],
  ],
  Science: ["science", "health", "space", "medicine", "coronavirus"],
  Technology: ["technology", "tech", "science and technology", "science & technology", "ai", "artificial intelligence"],
  Culture: [
    ...["culture", "pop culture", "pop-culture", "entertainment", "social", "music", "movies", "tv", "television"],
    ...["awards", "celebrities", "gaming", "games"],
  ],
  Weather: ["weather", "climate", "climate and weather", "climate & weather"],
  World: ["world", "geopolitics", "middle east", "ukraine & russia", "foreign affairs", "global politics"],
  Companies: ["companies", "company", "company news", "business", "earnings", "ipos", "big tech"],
  Other: ["other"],
};

const CATEGORY_OF_NAME: ReadonlyMap<string, Category> = new Map(
  CATEGORIES.flatMap((category) => NAMES[category].map((name) => [name, category] as const)),
);

/**
 * Returns our category for a venue's category: `Other` for an unknown name, null without a name.
 *
 * @example categoryOf("Climate and Weather"); // "Weather"
 */
export function categoryOf(venueCategory: string | null): Category | null {
  if (venueCategory === null) return null;
  const name = venueCategory.trim().toLowerCase();
  return name === "" ? null : (CATEGORY_OF_NAME.get(name) ?? "Other");
}
