import {
  createBinaryEvent,
  createCategoricalEvent,
  createVenueTexts,
  draw,
  pick,
  type Template,
} from "./event-definition.ts";

export const COUNTRIES = "Chile, Portugal, Peru, Colombia, Czechia, Hungary, Ecuador, Croatia, Slovenia, Iceland".split(
  ", ",
);
const CANDIDATES =
  "A. Moreno, L. Varga, T. Okafor, S. Lindqvist, J. Castellanos, R. Benes, M. Duarte, K. Halvorsen".split(", ");

function electionFields(country: string) {
  return {
    category: "Politics",
    tags: ["Elections", country],
    frequency: "one_off",
    source: "the national electoral authority",
  } as const;
}

export const createPresidentialElectionEvent =
  (country: string): Template =>
  (input, close) =>
    createCategoricalEvent(input, {
      ...electionFields(country),
      series: `PRES${country.slice(0, 4).toUpperCase()}`,
      seriesTitle: `${country} presidential election`,
      titles: {
        kalshi: `${country} presidential election winner (${close.shortDate})?`,
        polymarket: `${country} Presidential Election, ${close.month} ${close.year}`,
        limitless: `${country} election, ${close.shortDate}`,
        manifold: `Who will win the ${close.month} ${close.year} presidential election in ${country}?`,
      },
      description: `The winner of the presidential election in ${country} held on ${close.longDate}.`,
      names: CANDIDATES.slice(0, 5 + Math.floor(3 * draw(input, 15))),
      exhaustive: false,
      questions: (name) =>
        createVenueTexts(`Will ${name} win the ${close.month} ${close.year} ${country} presidential election?`, {
          kalshi: `Will ${name} be elected President of ${country} on ${close.longDate}?`,
        }),
      rules: (name) =>
        `Resolves YES if ${name} wins the presidential election in ${country} held on ${close.longDate}, a second round included. Somebody not listed may win.`,
    });

const PARTIES = ["Democratic", "Republican"];

/** Creates an event about the party that wins a federal election of the United States. */
const createUsPartyEvent =
  (series: string, office: string): Template =>
  (input, close) =>
    createCategoricalEvent(input, {
      ...electionFields("United States"),
      series,
      seriesTitle: `United States: ${office}`,
      titles: {
        kalshi: `Which party will win ${office} in ${close.year}?`,
        polymarket: `Which party will win ${office} in ${close.year}?`,
        limitless: `US election ${close.year}: ${office}`,
        manifold: `Which party wins ${office} in the ${close.year} US election?`,
      },
      description: `The party that wins ${office} in the United States election that ends on ${close.longDate}.`,
      names: PARTIES,
      exhaustive: true,
      questions: (name) => createVenueTexts(`Will the ${name} Party win ${office} in ${close.year}?`),
      rules: (name) =>
        `Resolves YES if the ${name} Party wins ${office} in the election that ends on ${close.longDate}.`,
    });
export const createUsPresidentialElectionEvent = createUsPartyEvent("PRESUS", "the presidency");
export const createHouseControlEvent = createUsPartyEvent("HOUSE", "the House of Representatives");

export const createParliamentSeatEvent: Template = (input, close) => {
  const district = 1 + Math.floor(40 * draw(input, 16));
  const country = pick(COUNTRIES, input, 17);
  return createBinaryEvent(input, {
    ...electionFields(country),
    series: "SEAT",
    seriesTitle: "Parliament seat",
    titles: {
      kalshi: `Opposition wins district ${district} in ${country} (${close.shortDate})?`,
      polymarket: `Will the opposition win ${country}'s district ${district} on ${close.monthAndDay}?`,
      limitless: `${country} district ${district}: opposition win, ${close.shortDate}?`,
      manifold: `Will the opposition win district ${district} in ${country} on ${close.longDate}?`,
    },
    description: `The by-election in district ${district} of ${country} on ${close.longDate}.`,
    rules: `Resolves YES if the opposition's candidate is declared winner of district ${district} in ${country} at the election of ${close.longDate}.`,
  });
};
