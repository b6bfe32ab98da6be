import { type CategoricalSpec, createCategoricalEvent } from "./categorical-event.ts";
import { forVenues, separateTrap, type Template } from "./event-definition.ts";

const FILMS = [
  ...["The Salt Line", "Northern Glass", "Paper Rivers", "A Quiet Orbit"],
  ...["Harvest of Stone", "Second Meridian", "The Cartographer", "Low Tide"],
];

export const createBestPictureEvent: Template = (input, close) => {
  const { year, fullDates } = close;
  const createSpec = (award: "Best Picture" | "Best Director"): CategoricalSpec => ({
    identity: `${award} ${close.longDate}`,
    series: award === "Best Picture" ? "BESTPIC" : "BESTDIR",
    seriesTitle: award,
    category: "Culture",
    tags: ["Awards", "Movies"],
    source: "the academy's announcement",
    titles: {
      kalshi: `Oscar for ${award}?`,
      polymarket: `Oscars ${year}: ${award} Winner`,
      limitless: `${award} ${year}`,
      manifold: `Which film wins ${award} on ${close.longDate}?`,
    },
    subject: forVenues((venue) => `the film that wins ${award} at the ceremony on ${fullDates[venue]}`),
    names: FILMS,
    exhaustive: false,
    similar: { name: "The Salt Path", to: "The Salt Line" },
    question: (name, claim, venue) => {
      const not = claim === "yes" ? "" : "NOT ";
      return {
        kalshi: `Will ${name} ${not}win ${award} at the ${year} Oscars?`,
        polymarket: `Will "${name}" ${not}win ${award} at the ${year} Academy Awards?`,
        limitless: `${award} ${year}: ${not}${name}`,
        manifold: `Will "${name}" ${claim === "yes" ? "be named" : "miss out on"} ${award} on ${close.longDate}?`,
      }[venue];
    },
    condition: (name, claim, venue) => {
      const wins = claim === "yes" ? "wins" : "does not win";
      return {
        kalshi: `${name} ${wins} the award for ${award} at the ceremony on ${fullDates.kalshi}`,
        polymarket: `"${name}" ${wins} ${award} at the Academy Awards scheduled for ${fullDates.polymarket}`,
        limitless: `${name} ${wins} ${award} on ${fullDates.limitless}`,
        manifold: `"${name}" ${wins} ${award} at the ceremony of ${fullDates.manifold}`,
      }[venue];
    },
  });
  return createCategoricalEvent(input, {
    ...createSpec("Best Picture"),
    traps: () => [separateTrap("measure", createCategoricalEvent(input, createSpec("Best Director")))],
  });
};
