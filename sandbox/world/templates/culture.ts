import { createCategoricalEvent, createVenueTexts, type Template } from "./event-definition.ts";

const FILMS = [
  ...["The Salt Line", "Northern Glass", "Paper Rivers", "A Quiet Orbit"],
  ...["Harvest of Stone", "Second Meridian", "The Cartographer", "Low Tide"],
];

export const createBestPictureEvent: Template = (input, close) =>
  createCategoricalEvent(input, {
    series: "BESTPIC",
    seriesTitle: "Best Picture",
    category: "Culture",
    tags: ["Awards", "Movies"],
    frequency: "annual",
    source: "the academy's announcement",
    titles: {
      kalshi: `Best Picture winner, ${close.shortDate}?`,
      polymarket: `Best Picture (${close.month} ${close.year})`,
      limitless: `Best Picture ${close.shortDate}`,
      manifold: `Which film wins Best Picture on ${close.longDate}?`,
    },
    description: `The film that wins Best Picture at the ceremony on ${close.longDate}.`,
    names: FILMS,
    exhaustive: false,
    questions: (name) => createVenueTexts(`Will "${name}" win Best Picture on ${close.monthAndDay}, ${close.year}?`),
    rules: (name) => `Resolves YES if "${name}" is announced as Best Picture at the ceremony of ${close.longDate}.`,
  });
