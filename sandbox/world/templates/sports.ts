import {
  createBinaryEvent,
  createCategoricalEvent,
  createVenueTexts,
  pickTeams,
  type Template,
} from "./event-definition.ts";

const BASKETBALL_TEAMS = (
  "Boston Celtics, Denver Nuggets, Oklahoma City Thunder, New York Knicks, Cleveland Cavaliers, " +
  "Minnesota Timberwolves, Dallas Mavericks, Los Angeles Lakers, Milwaukee Bucks, Houston Rockets, Orlando Magic, " +
  "Golden State Warriors"
).split(", ");
const FOOTBALL_TEAMS = (
  "Arsenal, Liverpool, Manchester City, Chelsea, Tottenham, Newcastle, Aston Villa, Brighton, Everton, Fulham, " +
  "Brentford, Crystal Palace"
).split(", ");

const AMERICAN_FOOTBALL_TEAMS = (
  "Kansas City Chiefs, Philadelphia Eagles, Buffalo Bills, Detroit Lions, Baltimore Ravens, Green Bay Packers, " +
  "Los Angeles Rams, Denver Broncos, Houston Texans, San Francisco 49ers"
).split(", ");

const NBA = { tags: ["NBA", "Basketball"], source: "https://www.nba.com" } as const;
const PREMIER_LEAGUE = { tags: ["Soccer", "Premier League"], source: "https://www.premierleague.com" } as const;

export const createBasketballGameEvent: Template = (input, close) => {
  const [home, away] = pickTeams(BASKETBALL_TEAMS, input, 10);
  return createBinaryEvent(input, {
    ...NBA,
    category: "Sports",
    series: "NBAGAME",
    seriesTitle: "Professional basketball game",
    frequency: "daily",
    sides: [home, away],
    titles: {
      kalshi: `${away} at ${home} (${close.shortDate}): ${home} winner?`,
      polymarket: `${home} vs. ${away}, ${close.monthAndDay}`,
      limitless: `${home} to beat ${away}, ${close.shortDate}?`,
      manifold: `Will the ${home} win against the ${away} on ${close.longDate}?`,
    },
    description: `The game of the ${away} at the ${home} on ${close.longDate}.`,
    rules: `Resolves YES if the ${home} win the game against the ${away} scheduled for ${close.longDate}, overtime included. A game not played within two days is void.`,
  });
};

export const createFootballMatchEvent: Template = (input, close) => {
  const [home, away] = pickTeams(FOOTBALL_TEAMS, input, 12);
  return createCategoricalEvent(input, {
    ...PREMIER_LEAGUE,
    category: "Sports",
    series: "EPLGAME",
    seriesTitle: "English football match",
    frequency: "weekly",
    titles: {
      kalshi: `${home} vs ${away} (${close.shortDate})`,
      polymarket: `${home} vs. ${away}, ${close.monthAndDay}`,
      limitless: `${home} – ${away}, ${close.shortDate}`,
      manifold: `Who wins ${home} v ${away} on ${close.longDate}?`,
    },
    description: `Result after regular time of ${home} against ${away} on ${close.longDate}.`,
    names: [home, away, "Draw"],
    exhaustive: true,
    questions: (name) =>
      name === "Draw"
        ? createVenueTexts(`Will ${home} vs ${away} end in a draw on ${close.monthAndDay}?`)
        : createVenueTexts(`Will ${name} win ${home} vs ${away} on ${close.monthAndDay}?`, {
            kalshi: `${home} vs ${away} winner, ${close.longDate}: ${name}?`,
          }),
    rules: (name) =>
      `Resolves YES if the result after regular time and stoppage of ${home} v ${away} on ${close.longDate} is: ${name}.`,
  });
};

/** Creates an event about the champion of a season. Other teams than the listed ones can win. */
const createChampionEvent =
  (
    fields: { readonly series: string; readonly tags: readonly string[]; readonly source: string },
    competition: string,
    teams: readonly string[],
  ): Template =>
  (input, close) =>
    createCategoricalEvent(input, {
      ...fields,
      seriesTitle: `${competition} champion`,
      category: "Sports",
      frequency: "annual",
      titles: {
        kalshi: `${competition} champion in ${close.year}?`,
        polymarket: `${competition} Champion ${close.year}`,
        limitless: `${competition} champion ${close.year}`,
        manifold: `Who will be ${competition} champion in ${close.year}?`,
      },
      description: `The winner of the ${competition} season that is decided by ${close.longDate}.`,
      names: teams,
      exhaustive: false,
      questions: (name) =>
        createVenueTexts(`Will ${name} be ${competition} champion in ${close.year}?`, {
          kalshi: `Will ${name} win the ${competition} title decided by ${close.longDate}?`,
        }),
      rules: (name) =>
        `Resolves YES if ${name} are the ${competition} champion of the season that ends by ${close.longDate}.`,
    });
export const createBasketballChampionEvent = createChampionEvent(
  { ...NBA, series: "NBACHAMP" },
  "NBA",
  BASKETBALL_TEAMS,
);
export const createFootballChampionEvent = createChampionEvent(
  { ...PREMIER_LEAGUE, series: "EPLCHAMP" },
  "Premier League",
  FOOTBALL_TEAMS,
);
export const createSuperBowlEvent = createChampionEvent(
  { series: "NFLCHAMP", tags: ["NFL", "Football"], source: "https://www.nfl.com" },
  "NFL",
  AMERICAN_FOOTBALL_TEAMS,
);
