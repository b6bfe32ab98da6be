import { type BinarySpec, createBinaryEvent } from "./binary-event.ts";
import { type CategoricalSpec, createCategoricalEvent } from "./categorical-event.ts";
import { createWithTrap, draw, forVenues, pick, type Template } from "./event-definition.ts";

export const COUNTRIES = (
  "Chile, Portugal, Peru, Colombia, Czechia, Hungary, Ecuador, Croatia, Slovenia, Iceland, Bolivia, Bulgaria, " +
  "Georgia, Kenya, Nepal, Romania, Senegal, Thailand, Uruguay, Zambia"
).split(", ");
const CANDIDATES = (
  "Alicia Moreno, László Varga, Tunde Okafor, Sara Lindqvist, Javier Castellanos, Radek Beneš, Marta Duarte, " +
  "Kari Halvorsen"
).split(", ");
/** A candidate who is not listed and has a name similar to a listed candidate. */
const SIMILAR_CANDIDATE = { name: "Alberto Moreno", to: "Alicia Moreno" } as const;

/** Kalshi writes names without diacritics. */
const toAscii = (name: string): string => name.normalize("NFKD").replaceAll(/\p{M}/gu, "");

function electionFields(country: string) {
  return {
    category: "Politics",
    tags: ["Elections", country],
    source: "the national electoral authority",
  } as const;
}

export const createPresidentialElectionEvent =
  (country: string): Template =>
  (input, close) => {
    const { month, year, fullDates } = close;
    const createSpec = (isFirstRound: boolean): CategoricalSpec => ({
      ...electionFields(country),
      identity: `president ${isFirstRound ? "first round" : ""} ${country} ${close.longDate}`,
      series: `${isFirstRound ? "PR1" : "PRES"}${country.slice(0, 4).toUpperCase()}`,
      seriesTitle: `${country} presidential election`,
      titles: isFirstRound
        ? {
            kalshi: `${country} presidential election: first place in the 1st round?`,
            polymarket: `${country} Presidential Election First Round Winner`,
            limitless: `${country} election ${year}, round 1`,
            manifold: `Who will come first in the first round of the ${year} presidential election in ${country}?`,
          }
        : {
            kalshi: `${country} presidential election winner?`,
            polymarket: `${country} Presidential Election ${year}`,
            limitless: `${country} election, ${close.shortDate}`,
            manifold: `Who will win the ${month} ${year} presidential election in ${country}?`,
          },
      subject: forVenues(
        (venue) =>
          `the ${isFirstRound ? "candidate with the most votes in the first round" : "winner"} of the presidential election in ${country} held on ${fullDates[venue]}`,
      ),
      names: CANDIDATES.slice(0, 5 + Math.floor(3 * draw(input, 15))),
      exhaustive: false,
      ...(isFirstRound ? {} : { similar: SIMILAR_CANDIDATE, hasPlaceholders: true }),
      label: (name, venue) => (venue === "kalshi" ? toAscii(name) : name),
      question: (name, claim, venue) => {
        const not = claim === "yes" ? "" : "NOT ";
        if (isFirstRound)
          return {
            kalshi: `Will ${toAscii(name)} place first in the 1st round of the ${year} ${country} election?`,
            polymarket: `Will ${name} win the 1st round of the ${year} ${country} presidential election?`,
            limitless: `${country} ${year}, round 1: ${name}`,
            manifold: `Will ${name} lead the first round in ${country} (${month} ${year})?`,
          }[venue];
        return {
          kalshi: `Will ${toAscii(name)} ${not}be the next President of ${country}?`,
          polymarket: `Will ${name} ${not}win the ${year} ${country} presidential election?`,
          limitless: `${country} ${year} president: ${not}${name}`,
          manifold: `Will ${name} ${claim === "yes" ? "win" : "lose"} the ${month} ${year} presidential election in ${country}?`,
        }[venue];
      },
      condition: (name, claim, venue) => {
        const race = isFirstRound ? "the first round of the presidential election" : "the presidential election";
        return {
          kalshi: `${toAscii(name)} ${claim === "yes" ? "wins" : "does not win"} ${race} in ${country} held on ${fullDates.kalshi}`,
          polymarket: `${name} ${claim === "yes" ? "wins" : "does not win"} ${race} scheduled to be held in ${country} on ${fullDates.polymarket}`,
          limitless: `${name} ${claim === "yes" ? "is declared" : "is not declared"} winner of ${race} of ${fullDates.limitless} in ${country}`,
          manifold: `${name} ${claim === "yes" ? "has won" : "has not won"} ${race} in ${country} of ${fullDates.manifold}${isFirstRound ? "" : ", a second round included"}`,
        }[venue];
      },
    });
    return createWithTrap("stage", createSpec, (spec) => createCategoricalEvent(input, spec));
  };

const PARTIES = ["Democratic", "Republican"];
const PARTY_MEMBERS: Readonly<Record<string, string>> = { Democratic: "Democrats", Republican: "Republicans" };

/** Creates an event about the party that wins a federal election of the United States. */
const createUsPartyEvent =
  (series: string, office: string): Template =>
  (input, close) => {
    const { year, fullDates } = close;
    const createSpec = (isPopularVote: boolean): CategoricalSpec => {
      const prize = isPopularVote ? `the popular vote for ${office}` : office;
      return {
        ...electionFields("United States"),
        identity: `US ${prize} ${close.longDate}`,
        series: isPopularVote ? `${series}POP` : series,
        seriesTitle: `United States: ${prize}`,
        titles: {
          kalshi: `Which party will win ${prize}?`,
          polymarket: `Which party will win ${prize} in ${year}?`,
          limitless: `US election ${year}: ${prize}`,
          manifold: `Which party wins ${prize} in the ${year} US election?`,
        },
        subject: forVenues(
          (venue) => `the party that wins ${prize} in the United States election that ends on ${fullDates[venue]}`,
        ),
        names: PARTIES,
        exhaustive: true,
        label: (name, venue) => (venue === "manifold" ? (PARTY_MEMBERS[name] ?? name) : name),
        question: (name, claim, venue) => {
          const not = claim === "yes" ? "" : "NOT ";
          return {
            kalshi: `${prize.charAt(0).toUpperCase()}${prize.slice(1)} in ${year}: ${not}${name} winner?`,
            polymarket: `Will the ${name} Party ${not}win ${prize} in ${year}?`,
            limitless: `US ${year}, ${prize}: ${not}${name}`,
            manifold: `Will ${PARTY_MEMBERS[name] ?? name} ${claim === "yes" ? "win" : "fail to win"} ${prize} in the ${year} election?`,
          }[venue];
        },
        condition: (name, claim, venue) => {
          const wins = claim === "yes" ? "wins" : "does not win";
          return {
            kalshi: `the ${name} Party ${wins} ${prize} in the election of ${fullDates.kalshi}`,
            polymarket: `the ${name} Party ${wins} ${prize} in the United States election of ${fullDates.polymarket}`,
            limitless: `${name} ${wins} ${prize} on ${fullDates.limitless}`,
            manifold: `the ${name} Party ${wins} ${prize} in the election that ends on ${fullDates.manifold}`,
          }[venue];
        },
      };
    };
    return createWithTrap("measure", createSpec, (spec) => createCategoricalEvent(input, spec));
  };
export const createUsPresidentialElectionEvent = createUsPartyEvent("PRESUS", "the presidency");
export const createHouseControlEvent = createUsPartyEvent("HOUSE", "the House of Representatives");

export const createParliamentSeatEvent: Template = (input, close) => {
  const district = 1 + Math.floor(400 * draw(input, 16));
  const country = pick(COUNTRIES, input, 17);
  const { dates, fullDates } = close;
  const createSpec = (isFirstRound: boolean): BinarySpec => ({
    ...electionFields(country),
    identity: `seat ${isFirstRound ? "first round" : ""} ${country} ${district} ${close.longDate}`,
    series: isFirstRound ? "SEATR1" : "SEAT",
    seriesTitle: "Parliament seat",
    subject: forVenues(
      (venue) =>
        `${isFirstRound ? "the first round of " : ""}the by-election in district ${district} of ${country} on ${fullDates[venue]}`,
    ),
    question: (claim, venue) => {
      if (isFirstRound)
        return {
          kalshi: `Opposition first in round one of district ${district} in ${country}?`,
          polymarket: `Will the opposition lead the first round in ${country}'s district ${district} on ${dates.polymarket}?`,
          limitless: `${country} district ${district}, round 1: opposition first, ${dates.limitless}?`,
          manifold: `Will the opposition come first in round one in district ${district} (${country}, ${dates.manifold})?`,
        }[venue];
      return claim === "yes"
        ? {
            kalshi: `${country} district ${district} by-election: opposition winner? (${dates.kalshi})`,
            polymarket: `Will the opposition win ${country}'s district ${district} on ${dates.polymarket}?`,
            limitless: `${country}-${district} seat: opposition win, ${dates.limitless}?`,
            manifold: `Will the opposition take district ${district} in ${country} on ${dates.manifold}?`,
          }[venue]
        : {
            kalshi: `${country} district ${district} by-election: will the opposition lose? (${dates.kalshi})`,
            polymarket: `Will the opposition NOT win ${country}'s district ${district} on ${dates.polymarket}?`,
            limitless: `${country}-${district} seat: opposition defeat, ${dates.limitless}?`,
            manifold: `Will the opposition fail to take district ${district} in ${country} on ${dates.manifold}?`,
          }[venue];
    },
    condition: (claim, venue) => {
      const not = claim === "yes" ? "" : "not ";
      const place = isFirstRound ? "first in the first round" : "the winner";
      return {
        kalshi: `the opposition's candidate is ${not}${place} of the by-election in district ${district} of ${country} on ${fullDates.kalshi}`,
        polymarket: `the candidate of the opposition is ${not}${place} in district ${district} of ${country} at the election scheduled for ${fullDates.polymarket}`,
        limitless: `the opposition is ${not}${place} in district ${district}, ${country}, at the vote of ${fullDates.limitless}`,
        manifold: `the opposition is ${not}${place} in district ${district} (${country}) on ${fullDates.manifold}`,
      }[venue];
    },
  });
  return createWithTrap("stage", createSpec, (spec) => createBinaryEvent(input, spec));
};
