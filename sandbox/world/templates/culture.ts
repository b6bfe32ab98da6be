import { categoricalEvent, type Template, venueTexts } from "./event-definition.ts";

const FILMS = [
  ...["The Salt Line", "Northern Glass", "Paper Rivers", "A Quiet Orbit"],
  ...["Harvest of Stone", "Second Meridian", "The Cartographer", "Low Tide"],
];

export const bestPicture: Template = (input, close) =>
  categoricalEvent(input, {
    series: "BESTPIC",
    seriesTitle: "Best Picture",
    category: "Culture",
    tags: ["Awards", "Movies"],
    frequency: "annual",
    source: "the academy's announcement",
    titles: {
      kalshi: `Best Picture winner, ${close.short}?`,
      polymarket: `Best Picture (${close.month} ${close.year})`,
      limitless: `Best Picture ${close.short}`,
      manifold: `Which film wins Best Picture on ${close.long}?`,
    },
    description: `The film that wins Best Picture at the ceremony on ${close.long}.`,
    names: FILMS,
    exhaustive: false,
    questions: (name) => venueTexts(`Will "${name}" win Best Picture on ${close.noYear}, ${close.year}?`),
    rules: (name) => `Resolves YES if "${name}" is announced as Best Picture at the ceremony of ${close.long}.`,
  });
