import { binaryEvent, categoricalEvent, pickTeams, type Template, venueTexts } from "./event-definition.ts";

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

export const basketballGame: Template = (input, close) => {
  const [home, away] = pickTeams(BASKETBALL_TEAMS, input, 10);
  return binaryEvent(input, {
    ...NBA,
    series: "NBAGAME",
    seriesTitle: "Professional basketball game",
    frequency: "daily",
    titles: {
      kalshi: `${away} at ${home} (${close.short}): ${home} winner?`,
      polymarket: `Will the ${home} beat the ${away} on ${close.noYear}?`,
      limitless: `${home} to beat ${away}, ${close.short}?`,
      manifold: `Will the ${home} win against the ${away} on ${close.long}?`,
    },
    description: `The game of the ${away} at the ${home} on ${close.long}.`,
    rules: `Resolves YES if the ${home} win the game against the ${away} scheduled for ${close.long}, overtime included. A game not played within two days is void.`,
  });
};

export const footballMatch: Template = (input, close) => {
  const [home, away] = pickTeams(FOOTBALL_TEAMS, input, 12);
  return categoricalEvent(input, {
    series: "EPLGAME",
    seriesTitle: "English football match",
    category: "Sports",
    tags: ["Soccer", "Premier League"],
    frequency: "weekly",
    source: "https://www.premierleague.com",
    titles: {
      kalshi: `${home} vs ${away} (${close.short})`,
      polymarket: `${home} vs. ${away}, ${close.noYear}`,
      limitless: `${home} – ${away}, ${close.short}`,
      manifold: `Who wins ${home} v ${away} on ${close.long}?`,
    },
    description: `Result after regular time of ${home} against ${away} on ${close.long}.`,
    names: [home, away, "Draw"],
    exhaustive: true,
    questions: (name) =>
      name === "Draw"
        ? venueTexts(`Will ${home} vs ${away} end in a draw on ${close.noYear}?`)
        : venueTexts(`Will ${name} win ${home} vs ${away} on ${close.noYear}?`, {
            kalshi: `${home} vs ${away} winner, ${close.long}: ${name}?`,
          }),
    rules: (name) =>
      `Resolves YES if the result after regular time and stoppage of ${home} v ${away} on ${close.long} is: ${name}.`,
  });
};

export const basketballChampion: Template = (input, close) =>
  categoricalEvent(input, {
    ...NBA,
    series: "NBACHAMP",
    seriesTitle: "Basketball champion",
    frequency: "annual",
    titles: {
      kalshi: `Pro basketball champion by ${close.short}?`,
      polymarket: `NBA champion (decided by ${close.noYear}, ${close.year})`,
      limitless: `Basketball champion ${close.year}`,
      manifold: `Who will be basketball champion, decided by ${close.long}?`,
    },
    description: `The winner of the finals that end by ${close.long}.`,
    names: BASKETBALL_TEAMS,
    exhaustive: true,
    questions: (name) =>
      venueTexts(`Will the ${name} win the finals by ${close.noYear}, ${close.year}?`, {
        kalshi: `Will the ${name} win the championship decided by ${close.long}?`,
      }),
    rules: (name) => `Resolves YES if the ${name} win the finals that are decided by ${close.long}.`,
  });
