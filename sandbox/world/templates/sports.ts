import type { SandboxVenue } from "../types.ts";
import { type BinarySpec, createBinaryEvent } from "./binary-event.ts";
import { type CategoricalSpec, createCategoricalEvent } from "./categorical-event.ts";
import { createWithTrap, forVenues, pick, pickOther, type Template } from "./event-definition.ts";

/** City and nickname. Kalshi uses only the city for professional American teams. */
type Team = readonly [city: string, nickname: string];

const parseTeams = (text: string): Team[] =>
  text.split(", ").map((name) => {
    const [city = "", nickname = ""] = name.split("/");
    return [city, nickname];
  });

const BASKETBALL_TEAMS = parseTeams(
  "Boston/Celtics, Denver/Nuggets, Oklahoma City/Thunder, New York/Knicks, Cleveland/Cavaliers, " +
    "Minnesota/Timberwolves, Dallas/Mavericks, Los Angeles L/Lakers, Milwaukee/Bucks, Houston/Rockets, " +
    "Orlando/Magic, Golden State/Warriors, Miami/Heat, Indiana/Pacers, Phoenix/Suns, Detroit/Pistons",
);
const AMERICAN_FOOTBALL_TEAMS = parseTeams(
  "Kansas City/Chiefs, Philadelphia/Eagles, Buffalo/Bills, Detroit/Lions, Baltimore/Ravens, Green Bay/Packers, " +
    "Los Angeles R/Rams, Denver/Broncos, Houston/Texans, San Francisco/49ers",
);
/** Short name and Polymarket's name. Kalshi, Limitless and Manifold use the short name. */
const FOOTBALL_TEAMS = parseTeams(
  "Arsenal/Arsenal FC, Liverpool/Liverpool FC, Manchester City/Manchester City FC, Chelsea/Chelsea FC, " +
    "Tottenham/Tottenham Hotspur FC, Newcastle/Newcastle United FC, Aston Villa/Aston Villa FC, " +
    "Brighton/Brighton & Hove Albion FC, Everton/Everton FC, Fulham/Fulham FC, Brentford/Brentford FC, " +
    "Crystal Palace/Crystal Palace FC, Nottingham/Nottingham Forest FC, Leeds United/Leeds United FC",
);

/** Returns the venue's name of a team: "Boston" on Kalshi, "Celtics" on Manifold, "Boston Celtics" elsewhere. */
function americanName([city, nickname]: Team, venue: SandboxVenue): string {
  if (venue === "kalshi") return city;
  return venue === "manifold" ? nickname : `${city.replace(/ [A-Z]$/, "")} ${nickname}`;
}

const footballName = ([name, fullName]: Team, venue: SandboxVenue): string =>
  venue === "polymarket" ? fullName : name;

const NBA = { tags: ["NBA", "Basketball"], source: "https://www.nba.com" } as const;
const PREMIER_LEAGUE = { tags: ["Soccer", "Premier League"], source: "https://www.premierleague.com" } as const;

/** Returns an identity that does not depend on the order of the teams. */
const fixtureOf = (first: Team, second: Team, date: string) => `${[first.join(" "), second.join(" ")].sort()} ${date}`;

export const createBasketballGameEvent: Template = (input, close) => {
  const homeTeam = pick(BASKETBALL_TEAMS, input, 10);
  const awayTeam = pickOther(BASKETBALL_TEAMS, homeTeam, input, 11);
  const { dates, fullDates } = close;
  const createSpec = (isFirstHalf: boolean): BinarySpec => {
    const question: BinarySpec["question"] = (claim, venue) => {
      const [home, away] = [americanName(homeTeam, venue), americanName(awayTeam, venue)];
      if (isFirstHalf)
        return {
          kalshi: `${away} at ${home}: 1st half winner? (${dates.kalshi}): ${home}`,
          polymarket: `${home} vs. ${away}: 1H Moneyline, ${dates.polymarket}`,
          limitless: `${home} to lead ${away} at half-time, ${dates.limitless}?`,
          manifold: `Will the ${home} win the first half against the ${away} on ${dates.manifold}?`,
        }[venue];
      return claim === "yes"
        ? {
            kalshi: `${away} at ${home} Winner? (${dates.kalshi}): ${home}`,
            polymarket: `${home} vs. ${away}, ${dates.polymarket}`,
            limitless: `${home} to beat ${away}, ${dates.limitless}?`,
            manifold: `Will the ${home} win against the ${away} on ${dates.manifold}?`,
          }[venue]
        : {
            kalshi: `${away} at ${home}: will ${home} lose? (${dates.kalshi})`,
            polymarket: `Will the ${home} lose to the ${away} on ${dates.polymarket}?`,
            limitless: `${home} to lose to ${away}, ${dates.limitless}?`,
            manifold: `Will the ${home} NOT win against the ${away} on ${dates.manifold}?`,
          }[venue];
    };
    return {
      ...NBA,
      identity: `NBA ${isFirstHalf ? "half " : ""}${fixtureOf(homeTeam, awayTeam, close.longDate)}`,
      category: "Sports",
      series: isFirstHalf ? "NBA1H" : "NBAGAME",
      seriesTitle: "Professional basketball game",
      ...(isFirstHalf
        ? {}
        : { sides: [americanName(homeTeam, "polymarket"), americanName(awayTeam, "polymarket")] as const }),
      subject: forVenues(
        (venue) =>
          `${isFirstHalf ? "the first half of " : ""}the game of ${americanName(awayTeam, venue)} at ${americanName(homeTeam, venue)} on ${fullDates[venue]}`,
      ),
      question,
      condition: (claim, venue) => {
        const [home, away] = [americanName(homeTeam, venue), americanName(awayTeam, venue)];
        const wins = claim === "yes" ? "wins" : "loses";
        const part = isFirstHalf ? "first half of the " : "";
        return {
          kalshi: `${home} ${wins} the ${part}${away} at ${home} professional basketball game originally scheduled for ${fullDates.kalshi}`,
          polymarket: `the ${home} ${claim === "yes" ? "win" : "lose"} the ${part}NBA game against the ${away} scheduled for ${fullDates.polymarket}`,
          limitless: `${home} ${wins} the ${part}game against ${away} on ${fullDates.limitless}`,
          manifold: `the ${home} ${claim === "yes" ? "win" : "lose"} the ${part}game against the ${away} on ${fullDates.manifold}`,
        }[venue];
      },
      note: isFirstHalf
        ? "a tied half counts as no win"
        : "overtime is included, and a game not played within two days is void",
    };
  };
  return createWithTrap("stage", createSpec, (spec) => createBinaryEvent(input, spec));
};

const DRAW = "Draw";

export const createFootballMatchEvent: Template = (input, close) => {
  const home = pick(FOOTBALL_TEAMS, input, 12);
  const away = pickOther(FOOTBALL_TEAMS, home, input, 13);
  const { dates, fullDates } = close;
  const nameOf = (name: string, venue: SandboxVenue): string => {
    const team = [home, away].find(([shortName]) => shortName === name);
    if (team !== undefined) return footballName(team, venue);
    return venue === "kalshi" ? "Tie" : DRAW;
  };
  const teamsOf = (venue: SandboxVenue) => [footballName(home, venue), footballName(away, venue)] as const;
  const createSpec = (isHalfTime: boolean): CategoricalSpec => {
    const part = isHalfTime ? " at half-time" : "";
    return {
      ...PREMIER_LEAGUE,
      identity: `EPL ${isHalfTime ? "half " : ""}${fixtureOf(home, away, close.longDate)}`,
      category: "Sports",
      series: isHalfTime ? "EPL1H" : "EPLGAME",
      seriesTitle: "English football match",
      titles: forVenues((venue) => {
        const [first, second] = teamsOf(venue);
        return {
          kalshi: `${first} vs ${second}${isHalfTime ? ": First Half Winner" : ""} (${dates.kalshi})`,
          polymarket: `${first} vs. ${second}${isHalfTime ? " - Halftime Result" : ""}, ${dates.polymarket}`,
          limitless: `EPL, ${first} vs ${second}${part}, ${dates.limitless}`,
          manifold: `Who wins ${first} v ${second}${part} on ${dates.manifold}?`,
        }[venue];
      }),
      subject: forVenues((venue) => {
        const [first, second] = teamsOf(venue);
        return `the result${isHalfTime ? part : " after regular time"} of ${first} against ${second} on ${fullDates[venue]}`;
      }),
      names: [home[0], away[0], DRAW],
      exhaustive: true,
      label: nameOf,
      question: (name, claim, venue) => {
        const [first, second] = teamsOf(venue);
        const named = nameOf(name, venue);
        const not = claim === "yes" ? "" : "NOT ";
        if (name === DRAW)
          return {
            kalshi: `${first} vs ${second}, ${dates.kalshi}: will ${not}${not === "" ? "Tie win" : "be a tie"}${part}?`,
            polymarket: `Will ${first} vs. ${second} ${not}${isHalfTime ? "be level at halftime" : "end in a draw"} on ${dates.polymarket}?`,
            limitless: `EPL, ${first} vs ${second}, ${dates.limitless}: ${not}${named}${part}`,
            manifold: `Will ${first} v ${second} ${not}be a draw${part} on ${dates.manifold}?`,
          }[venue];
        if (isHalfTime)
          return {
            kalshi: `Will ${named} win the 1st Half of ${first} vs ${second} (${dates.kalshi})?`,
            polymarket: `${named} leading at halftime on ${dates.polymarket}?`,
            limitless: `EPL, ${first} vs ${second}, ${dates.limitless}, half-time: ${named}`,
            manifold: `Will ${named} be ahead at half-time of ${first} v ${second} on ${dates.manifold}?`,
          }[venue];
        return {
          kalshi: `${first} vs ${second}, ${dates.kalshi}: ${claim === "yes" ? `${named} Winner?` : `will ${named} fail to win?`}`,
          polymarket: `Will ${named} ${not}win on ${dates.polymarket}?`,
          limitless: `EPL, ${first} vs ${second}, ${dates.limitless}: ${not}${named}`,
          manifold: `Will ${named} ${claim === "yes" ? "win" : "fail to win"} ${first} v ${second} on ${dates.manifold}?`,
        }[venue];
      },
      condition: (name, claim, venue) => {
        const [first, second] = teamsOf(venue);
        const is = claim === "yes" ? "is" : "is not";
        const time = isHalfTime ? "at half-time" : "after 90 minutes plus stoppage time";
        return {
          kalshi: `the result ${time} of the ${first} vs ${second} match originally scheduled for ${fullDates.kalshi} ${is} ${nameOf(name, venue)}`,
          polymarket: `the outcome of the Premier League match between ${first} and ${second} scheduled for ${fullDates.polymarket} ${is} "${nameOf(name, venue)}" ${time}`,
          limitless: `${time} the result of ${first} vs ${second} on ${fullDates.limitless} ${is}: ${nameOf(name, venue)}`,
          manifold: `${time} of ${first} v ${second} on ${fullDates.manifold} the result ${is} ${nameOf(name, venue)}`,
        }[venue];
      },
    };
  };
  return createWithTrap("stage", createSpec, (spec) => createCategoricalEvent(input, spec));
};

interface Competition {
  readonly series: string;
  readonly tags: readonly string[];
  readonly source: string;
  readonly names: Readonly<Record<SandboxVenue, string>>;
  readonly teams: readonly Team[];
  readonly nameOf: (team: Team, venue: SandboxVenue) => string;
  /** A team that is not listed and is from the same city as the listed team `similarTo`. */
  readonly similarTeam: Team;
  readonly similarTo: Team;
  /** Name of the final on Polymarket. */
  readonly finalName: string;
  /** An earlier stage of the season with the same candidates. */
  readonly stage: string;
}

/** Creates an event about the champion of a season. Other teams than the listed ones can win. */
const createChampionEvent =
  ({ series, tags, source, names, teams, nameOf, similarTeam, similarTo, finalName, stage }: Competition): Template =>
  (input, close) => {
    const { year, fullDates } = close;
    const teamNames = new Map([...teams, similarTeam].map((team) => [team.join(" "), team]));
    const show = (name: string, venue: SandboxVenue): string => {
      const team = teamNames.get(name);
      return team === undefined ? name : nameOf(team, venue);
    };
    const createSpec = (isStage: boolean): CategoricalSpec => {
      const goalOf = (venue: SandboxVenue) =>
        isStage
          ? `${stage} of the ${year} ${names[venue]} season`
          : {
              kalshi: `the ${year} ${names.kalshi} title`,
              polymarket: `the ${year} ${finalName}`,
              limitless: `${names.limitless} ${year}`,
              manifold: `the ${names.manifold} championship in ${year}`,
            }[venue];
      return {
        series: isStage ? `${series}REG` : series,
        tags,
        source,
        identity: `${series} ${isStage ? stage : "champion"} ${close.longDate}`,
        seriesTitle: `${names.polymarket} champion`,
        category: "Sports",
        titles: isStage
          ? forVenues((venue) => `${names[venue]} ${year}: ${stage}?`)
          : {
              kalshi: `${names.kalshi} champion in ${year}?`,
              polymarket: `${year} ${names.polymarket} Champion`,
              limitless: `${names.limitless} ${year} winner`,
              manifold: `Who will be ${names.manifold} champion in ${year}?`,
            },
        subject: forVenues((venue) => `${goalOf(venue)}, decided by ${fullDates[venue]}`),
        names: teams.map((team) => team.join(" ")),
        exhaustive: false,
        similar: { name: similarTeam.join(" "), to: similarTo.join(" ") },
        label: show,
        question: (name, claim, venue) => {
          const team = show(name, venue);
          const not = claim === "yes" ? "" : "NOT ";
          return {
            kalshi: `Will ${team} ${not}win ${goalOf(venue)}?`,
            polymarket: `Will the ${team} ${not}win ${goalOf(venue)}?`,
            limitless: `${team} ${not}to win ${goalOf(venue)}?`,
            manifold: `Will the ${team} ${claim === "yes" ? "take" : "fail to take"} ${goalOf(venue)}?`,
          }[venue];
        },
        condition: (name, claim, venue) => {
          const team = show(name, venue);
          return {
            kalshi: `${team} ${claim === "yes" ? "wins" : "does not win"} ${goalOf(venue)}, decided by ${fullDates.kalshi}`,
            polymarket: `the ${team} ${claim === "yes" ? "win" : "do not win"} ${goalOf(venue)}. The season is decided by ${fullDates.polymarket}`,
            limitless: `${team} ${claim === "yes" ? "is" : "is not"} the winner of ${goalOf(venue)} by ${fullDates.limitless}`,
            manifold: `the ${team} ${claim === "yes" ? "have" : "have not"} won ${goalOf(venue)} by ${fullDates.manifold}`,
          }[venue];
        },
      };
    };
    return createWithTrap("stage", createSpec, (spec) => createCategoricalEvent(input, spec));
  };
export const createBasketballChampionEvent = createChampionEvent({
  ...NBA,
  series: "NBACHAMP",
  names: { kalshi: "Pro Basketball", polymarket: "NBA", limitless: "NBA", manifold: "NBA" },
  teams: BASKETBALL_TEAMS,
  nameOf: americanName,
  similarTeam: ["Los Angeles C", "Clippers"],
  similarTo: ["Los Angeles L", "Lakers"],
  finalName: "NBA Finals",
  stage: "the regular-season title",
});
export const createFootballChampionEvent = createChampionEvent({
  ...PREMIER_LEAGUE,
  series: "EPLCHAMP",
  names: { kalshi: "EPL", polymarket: "English Premier League", limitless: "EPL", manifold: "Premier League" },
  teams: FOOTBALL_TEAMS,
  nameOf: footballName,
  similarTeam: ["Manchester United", "Manchester United FC"],
  similarTo: ["Manchester City", "Manchester City FC"],
  finalName: "English Premier League",
  stage: "the mid-season title",
});
export const createSuperBowlEvent = createChampionEvent({
  series: "NFLCHAMP",
  tags: ["NFL", "Football"],
  source: "https://www.nfl.com",
  names: { kalshi: "Pro Football", polymarket: "NFL", limitless: "NFL", manifold: "NFL" },
  teams: AMERICAN_FOOTBALL_TEAMS,
  nameOf: americanName,
  similarTeam: ["Los Angeles C", "Chargers"],
  similarTo: ["Los Angeles R", "Rams"],
  finalName: "Super Bowl",
  stage: "the regular-season title",
});
