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

const NBA = { category: "Sports", tags: ["NBA", "Basketball"], source: "https://www.nba.com" } as const;

export const createBasketballGameEvent: Template = (input, close) => {
  const [home, away] = pickTeams(BASKETBALL_TEAMS, input, 10);
  return createBinaryEvent(input, {
    ...NBA,
    series: "NBAGAME",
    seriesTitle: "Professional basketball game",
    frequency: "daily",
    titles: {
      kalshi: `${away} at ${home} (${close.shortDate}): ${home} winner?`,
      polymarket: `Will the ${home} beat the ${away} on ${close.monthAndDay}?`,
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
    series: "EPLGAME",
    seriesTitle: "English football match",
    category: "Sports",
    tags: ["Soccer", "Premier League"],
    frequency: "weekly",
    source: "https://www.premierleague.com",
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

export const createBasketballChampionEvent: Template = (input, close) =>
  createCategoricalEvent(input, {
    ...NBA,
    series: "NBACHAMP",
    seriesTitle: "Basketball champion",
    frequency: "annual",
    titles: {
      kalshi: `Pro basketball champion by ${close.shortDate}?`,
      polymarket: `NBA champion (decided by ${close.monthAndDay}, ${close.year})`,
      limitless: `Basketball champion ${close.year}`,
      manifold: `Who will be basketball champion, decided by ${close.longDate}?`,
    },
    description: `The winner of the finals that end by ${close.longDate}.`,
    names: BASKETBALL_TEAMS,
    exhaustive: true,
    questions: (name) =>
      createVenueTexts(`Will the ${name} win the finals by ${close.monthAndDay}, ${close.year}?`, {
        kalshi: `Will the ${name} win the championship decided by ${close.longDate}?`,
      }),
    rules: (name) => `Resolves YES if the ${name} win the finals that are decided by ${close.longDate}.`,
  });
