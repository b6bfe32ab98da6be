import { type CheckedMarket, testCheckedMarket } from "../../../../test/support/resolution/check-market.ts";

const OTHERWISE = 'Otherwise, this market will resolve to "No".';

/**
 * YES pays if something happens before a deadline. The instants are a whole number of days (T) before the deadline, so that
 * theta = 100 (1 - (1 - p)^((T - 1) / T) - p) has a short value.
 */
const OCCURRENCES: readonly CheckedMarket[] = [
  {
    // T = 2: 1 - 0.25^(1/2) = 0.5. The venue's end date is a day before the deadline of the rules.
    title: "Will Northwind release Atlas 5 by April 30, 2026?",
    rules: `This market will resolve to "Yes" if Northwind makes its Atlas 5 model available to the public by April 30, 2026, 11:59 PM ET. ${OTHERWISE} A closed beta does not count.`,
    closeAt: "2026-04-30T00:00Z",
    now: "2026-04-29T03:59Z",
    price: 0.75,
    mechanism: "continuous_monitoring",
    theta: -25,
    urgency: "critical",
    keyDates: [
      "2026-04-30T00:00 Resolution expected by the venue (high)",
      "2026-05-01T03:59 Deadline in the rules (high)",
    ],
  },
  {
    // T = 100: (1 - p)^0.99 = 0.369697.
    title: "Will humans land on Phobos before 2050?",
    rules: "If humans land on Phobos before Jan 1, 2050, then the market resolves to Yes.",
    closeAt: "2050-01-01T04:59Z",
    expectedAt: "2050-01-01T15:00Z",
    now: "2049-09-23T00:00Z",
    price: 0.634,
    mechanism: "continuous_monitoring",
    theta: -0.3697,
    urgency: "low",
    keyDates: [
      "2050-01-01T00:00 Deadline in the rules (high)",
      "2050-01-01T04:59 Trading closes (medium)",
      "2050-01-01T15:00 Resolution expected by the venue (high)",
    ],
  },
  {
    // T = 4: 1 - 0.4096^(3/4) = 1 - 0.512.
    title: "Arvenia x Lydonia military clash by June 30?",
    rules: `This market will resolve to "Yes" if the armed forces of Arvenia and Lydonia exchange fire between May 10 and June 30, 2026, 11:59 PM ET. ${OTHERWISE}`,
    openAt: "2026-05-10T12:00Z",
    closeAt: "2026-06-30T00:00Z",
    now: "2026-06-27T03:59Z",
    price: 0.5904,
    mechanism: "continuous_monitoring",
    theta: -10.24,
    urgency: "high",
    keyDates: [
      "2026-06-30T00:00 Resolution expected by the venue (high)",
      "2026-07-01T03:59 Deadline in the rules (high)",
    ],
  },
  {
    // T = 2: 1 - 0.49^(1/2) = 0.3. Only the title has the date, without a year; the rules give the zone.
    title: "Harbor strike ends by June 30?",
    rules: `This market will resolve to "Yes" if the strike of the Harborview dock workers ends by the listed date, 11:59 PM ET. ${OTHERWISE}`,
    openAt: "2026-05-01T12:00Z",
    closeAt: "2026-06-30T00:00Z",
    now: "2026-06-29T03:59Z",
    price: 0.51,
    mechanism: "continuous_monitoring",
    theta: -21,
    urgency: "critical",
    keyDates: [
      "2026-06-30T00:00 Resolution expected by the venue (high)",
      "2026-07-01T03:59 Deadline in the title (high)",
    ],
  },
  {
    // T = 3: 1 - 0.729^(2/3) = 0.19.
    title: "Will Bitcoin dip to $60,000 by December 31, 2026?",
    rules: `This market will immediately resolve to "Yes" if any Example Exchange 1 minute candle for BTCUSD between October 2, 2026, 11:00 and December 31, 2026, 23:59 in the ET timezone has a final "Low" price of $60,000 or lower. ${OTHERWISE}`,
    closeAt: "2027-01-01T05:00Z",
    now: "2026-12-29T04:59Z",
    price: 0.271,
    mechanism: "continuous_monitoring",
    theta: -8.1,
    urgency: "medium",
    keyDates: [
      "2027-01-01T04:59 Deadline in the rules (high)",
      "2027-01-01T05:00 Resolution expected by the venue (high)",
    ],
  },
  {
    // T = 2: 1 - 0.81^(1/2) = 0.1. The month of the title, without a year.
    title: "Will Ether reach $5,000 in November?",
    rules: `This market will immediately resolve to "Yes" if any Example Exchange 1 minute candle for ETHUSD during the month specified in the title (from 00:00 AM ET on the first day to 11:59 PM ET on the last) has a final "High" price of $5,000 or higher. ${OTHERWISE}`,
    openAt: "2026-11-01T04:00Z",
    closeAt: "2026-12-01T05:00Z",
    now: "2026-11-29T04:59Z",
    price: 0.19,
    mechanism: "continuous_monitoring",
    theta: -9,
    urgency: "high",
    keyDates: [
      "2026-12-01T04:59 Deadline in the title (high)",
      "2026-12-01T05:00 Resolution expected by the venue (high)",
    ],
  },
  {
    // T = 10: 1 - 0.9^10 falls to 1 - 0.9^9.
    title: "Will Arvenia invade Lydonia in 2026?",
    rules: `This market will resolve to "Yes" if Arvenia commences a military offensive intended to establish control over any part of Lydonia between January 9 and December 31, 2026, 11:59 PM ET. ${OTHERWISE} Territory held as of January 9, 2026, 12:00 PM ET, does not count.`,
    openAt: "2026-01-09T12:00Z",
    closeAt: "2026-12-31T00:00Z",
    now: "2026-12-22T04:59Z",
    price: 1 - 0.9 ** 10,
    mechanism: "continuous_monitoring",
    theta: -3.8742,
    urgency: "medium",
    keyDates: [
      "2026-12-31T00:00 Resolution expected by the venue (high)",
      "2027-01-01T04:59 Deadline in the rules (high)",
    ],
  },
  {
    title: "Vero Lang no longer richest person before 2027?",
    rules: `This market will resolve to "Yes" if anyone overtakes Vero Lang on the Example rich list before January 1, 2027, 12:00 AM ET. ${OTHERWISE}`,
    closeAt: "2027-01-01T05:00Z",
    now: "2026-12-30T05:00Z",
    price: 0.36,
    mechanism: "continuous_monitoring",
    theta: -16,
    urgency: "high",
    keyDates: ["2027-01-01T05:00 Deadline in the rules (resolution expected by the venue) (high)"],
  },
  {
    title: "Will Ivo Marr visit the Moon before Aug 1, 2099?",
    rules:
      "If Ivo Marr visits the Moon before the earlier of his death or Aug 1, 2099, then the market resolves to Yes.",
    closeAt: "2099-08-01T03:59Z",
    expectedAt: "2099-08-01T14:00Z",
    now: "2099-07-30T00:00Z",
    price: 0.36,
    mechanism: "continuous_monitoring",
    theta: -16,
    urgency: "high",
    keyDates: [
      "2099-08-01T00:00 Deadline in the rules (high)",
      "2099-08-01T03:59 Trading closes (medium)",
      "2099-08-01T14:00 Resolution expected by the venue (high)",
    ],
  },
  {
    // The venue's end date is old: the deadline of the rules counts. T = 2: 1 - 0.36^(1/2) = 0.4.
    title: "Will Arvenia annex the Kell islands by December 31, 2026?",
    rules: `This market will resolve to "Yes" if Arvenia declares the Kell islands part of its territory by December 31, 2026, 11:59 PM ET. ${OTHERWISE}`,
    closeAt: "2026-03-31T00:00Z",
    now: "2026-12-30T04:59Z",
    price: 0.64,
    mechanism: "continuous_monitoring",
    theta: -24,
    urgency: "high",
    keyDates: ["2027-01-01T04:59 Deadline in the rules (high)"],
  },
  {
    title: "Will the Lydonian parliament ratify the treaty by 1 March 2027?",
    rules: "The question resolves Yes if the treaty is ratified on or before 1 March 2027 (UTC).",
    closeAt: "2027-03-02T00:00Z",
    now: "2027-02-27T23:59Z",
    price: 0.75,
    mechanism: "continuous_monitoring",
    theta: -25,
    urgency: "high",
    keyDates: [
      "2027-03-01T23:59 Deadline in the rules (high)",
      "2027-03-02T00:00 Resolution expected by the venue (high)",
    ],
  },
  {
    title: "Will the Kell bridge open by the end of 2026?",
    rules: "Resolves YES if the bridge is open to traffic by the end of 2026.",
    closeAt: "2027-01-01T22:59Z",
    now: "2026-12-29T23:59Z",
    price: 0.75,
    mechanism: "continuous_monitoring",
    theta: -25,
    urgency: "high",
    keyDates: [
      "2026-12-31T23:59 Deadline in the rules (high)",
      "2027-01-01T22:59 Resolution expected by the venue (high)",
    ],
  },
  {
    // "by 2030" is before 2030 begins. There are no rules.
    title: "Will a fusion plant supply a national grid by 2030?",
    closeAt: "2029-12-31T23:59Z",
    now: "2029-12-30T00:00Z",
    price: 0.19,
    mechanism: "continuous_monitoring",
    theta: -9,
    urgency: "high",
    keyDates: [
      "2029-12-31T23:59 Resolution expected by the venue (high)",
      "2030-01-01T00:00 Deadline in the title (high)",
    ],
  },
  {
    // T = 3: 1 - 0.125^(2/3) = 0.75.
    title: "Will the Vento and Quillon merger close this year?",
    rules: "Resolves YES if the merger is completed no later than 2026-12-31.",
    closeAt: "2027-01-05T00:00Z",
    now: "2026-12-28T23:59Z",
    price: 0.875,
    mechanism: "continuous_monitoring",
    theta: -12.5,
    urgency: "medium",
    keyDates: [
      "2026-12-31T23:59 Deadline in the rules (high)",
      "2027-01-05T00:00 Resolution expected by the venue (high)",
    ],
  },
  {
    title: "Orla Finch charged?",
    rules:
      "If Orla Finch is charged with a crime before 11:59 PM ET on December 31, 2026, then the market resolves to Yes.",
    closeAt: "2027-01-01T04:59Z",
    now: "2026-12-30T04:59Z",
    price: 0.75,
    mechanism: "continuous_monitoring",
    theta: -25,
    urgency: "high",
    keyDates: ["2027-01-01T04:59 Deadline in the rules (resolution expected by the venue) (high)"],
  },
  {
    // Half a day is left: everything decays.
    title: "Will the Kell lighthouse be sold by November 22, 2026?",
    rules: `This market will resolve to "Yes" if a sale of the lighthouse is announced by November 22, 2026, 12:00 PM ET. ${OTHERWISE}`,
    closeAt: "2026-11-22T17:00Z",
    now: "2026-11-22T05:00Z",
    price: 0.3,
    mechanism: "continuous_monitoring",
    theta: -30,
    urgency: "critical",
    keyDates: ["2026-11-22T17:00 Deadline in the rules (resolution expected by the venue) (high)"],
  },
];

/** The deadline is two days ahead and the price 0.75. */
const IN_TWO_DAYS = { price: 0.75, mechanism: "continuous_monitoring", urgency: "high", theta: -25 } as const;
const WORDINGS: readonly CheckedMarket[] = [
  {
    title: "Before 2028, will Arvenia join the Northern League?",
    ...IN_TWO_DAYS,
    now: "2027-12-30T00:00Z",
    keyDates: ["2028-01-01T00:00 Deadline in the title (high)"],
  },
  {
    title: "Northwind announces 50 shops by 6/30/27?",
    ...IN_TWO_DAYS,
    now: "2027-06-28T23:59Z",
    keyDates: ["2027-06-30T23:59 Deadline in the title (high)"],
  },
  {
    title: "Northwind announces 50 shops by EOY2027?",
    ...IN_TWO_DAYS,
    now: "2027-12-29T23:59Z",
    keyDates: ["2027-12-31T23:59 Deadline in the title (high)"],
  },
  {
    // Not about one race.
    title: "Will a woman win a Kell Cup race before 2050?",
    ...IN_TWO_DAYS,
    now: "2049-12-30T00:00Z",
    keyDates: ["2050-01-01T00:00 Deadline in the title (high)"],
  },
  {
    // Relative to the listing.
    title: "Will the dock strike end in the next two weeks?",
    ...IN_TWO_DAYS,
    openAt: "2027-03-01T15:30Z",
    now: "2027-03-13T15:30Z",
    keyDates: ["2027-03-15T15:30 Deadline in the title (high)"],
  },
  {
    // A vote of no confidence is an event.
    title: "Will Ada Quill face a vote of no confidence before 1 January 2027?",
    ...IN_TWO_DAYS,
    now: "2026-12-30T00:00Z",
    keyDates: ["2027-01-01T00:00 Deadline in the title (high)"],
  },
  {
    // The condition has no "resolves to Yes"; the sentence about No explains it.
    title: "Will Rosa Lind fall ill before the vote?",
    rules:
      "This is a market on if Rosa Lind will report an illness before November 3rd, 2026. If she does not report it in public, the market will resolve to No.",
    ...IN_TWO_DAYS,
    openAt: "2026-10-01T00:00Z",
    now: "2026-11-01T00:00Z",
    keyDates: ["2026-11-03T00:00 Deadline in the rules (high)"],
  },
  {
    // The year of an example, before the listing, is not the deadline.
    title: "Will a party win two thirds of the seats by May 1, 2027?",
    rules: 'In 2010, the Blue Party did. Resolves to "Yes" if a party wins two thirds of the seats by May 1, 2027.',
    ...IN_TWO_DAYS,
    openAt: "2027-01-01T00:00Z",
    now: "2027-04-29T23:59Z",
    keyDates: ["2027-05-01T23:59 Deadline in the rules (high)"],
  },
  {
    // Whether "without" negates is unclear.
    title: "Will Arvenia build a reactor without foreign help by 2030?",
    ...IN_TWO_DAYS,
    now: "2029-12-30T00:00Z",
    theta: null,
    keyDates: ["2030-01-01T00:00 Deadline in the title (high)"],
  },
  {
    // The deadline is an event, so theta is unknown.
    title: "If the Blue Party wins, will Arvenia leave the League before the 2026 midterms?",
    ...IN_TWO_DAYS,
    now: "2026-11-01T00:00Z",
    theta: null,
    urgency: null,
    schedule: "US federal election",
    keyDates: ["2026-11-03T05:00 US midterm election day (high)"],
  },
];

/** YES pays if something does not happen: it gains what NO loses. */
const NON_OCCURRENCES: readonly CheckedMarket[] = [
  {
    // T = 2, probability that she leaves 0.75.
    title: "Will Ada Quill remain Prime Minister through June 30, 2027?",
    rules:
      'This market will resolve to "No" if Ada Quill ceases to be Prime Minister of Arvenia by June 30, 2027, 11:59 PM ET. Otherwise, this market will resolve to "Yes".',
    closeAt: "2027-06-30T00:00Z",
    now: "2027-06-29T03:59Z",
    price: 0.25,
    mechanism: "continuous_monitoring",
    theta: 25,
    urgency: "critical",
    keyDates: [
      "2027-06-30T00:00 Resolution expected by the venue (high)",
      "2027-07-01T03:59 Deadline in the rules (high)",
    ],
  },
  {
    title: "No hurricane landfall in Florida before November 30, 2026?",
    rules: `This market will resolve to "Yes" if no hurricane makes landfall in Florida before November 30, 2026, 12:00 AM ET. ${OTHERWISE}`,
    closeAt: "2026-11-30T05:00Z",
    now: "2026-11-28T05:00Z",
    price: 0.81,
    mechanism: "continuous_monitoring",
    theta: 9,
    urgency: "high",
    keyDates: ["2026-11-30T05:00 Deadline in the rules (resolution expected by the venue) (high)"],
  },
  {
    title: "Will Lydonia avoid default through 2026?",
    rules: "If Lydonia does not default on its bonds by December 31, 2026, then the market resolves to Yes.",
    closeAt: "2027-01-01T04:59Z",
    now: "2026-12-29T23:59Z",
    price: 0.49,
    mechanism: "continuous_monitoring",
    theta: 21,
    urgency: "high",
    keyDates: [
      "2026-12-31T23:59 Deadline in the rules (high)",
      "2027-01-01T04:59 Resolution expected by the venue (high)",
    ],
  },
  {
    // A state at a date, lost when it ends at any time before.
    title: "Will Ada Quill still be Prime Minister on January 1, 2027?",
    rules: "If Ada Quill still holds the office on January 1, 2027, then the market resolves to Yes.",
    closeAt: "2027-01-01T04:59Z",
    now: "2026-12-30T00:00Z",
    price: 0.81,
    mechanism: "date_based",
    theta: 9,
    urgency: "high",
    keyDates: [
      "2027-01-01T00:00 Deadline in the rules (high)",
      "2027-01-01T04:59 Resolution expected by the venue (high)",
    ],
  },
];

/** Theta is unknown, and not guessed. */
const UNKNOWN_DECAY: readonly CheckedMarket[] = [
  {
    // The title pays for leaving, the rules for staying.
    title: "Will Ada Quill be out by March 31, 2027?",
    rules: `This market will resolve to "Yes" if Ada Quill remains Prime Minister until March 31, 2027, 11:59 PM ET. ${OTHERWISE}`,
    closeAt: "2027-03-31T00:00Z",
    now: "2027-03-01T00:00Z",
    price: 0.3,
    mechanism: "continuous_monitoring",
    theta: null,
    urgency: "low",
    keyDates: [
      "2027-03-31T00:00 Resolution expected by the venue (high)",
      "2027-04-01T03:59 Deadline in the rules (high)",
    ],
  },
  {
    // A race between two events. The only date is a fallback.
    title: "New Mira Vale album before Orbit VII?",
    rules: `This market will resolve to "Yes" if Mira Vale releases a new album before Orbit VII is released. ${OTHERWISE} If neither is released by July 31, 2026, 11:59 PM ET, this market will resolve 50-50.`,
    closeAt: "2026-07-31T12:00Z",
    now: "2026-06-01T00:00Z",
    price: 0.5,
    mechanism: "unknown",
    theta: null,
    urgency: "low",
    keyDates: [
      "2026-07-31T12:00 Resolution expected by the venue (high)",
      "2026-08-01T03:59 Fallback deadline in the rules (medium)",
    ],
  },
  {
    title: "Will the Kell mine reopen by 31 May 2027?",
    rules: `This market will resolve to "Yes" if the mine reopens by 31 May 2027. ${OTHERWISE}`,
    closeAt: "2027-05-31T23:59Z",
    now: "2027-05-29T23:59Z",
    mechanism: "continuous_monitoring",
    theta: null,
    urgency: "high",
    keyDates: ["2027-05-31T23:59 Deadline in the rules (resolution expected by the venue) (high)"],
  },
  {
    // A year before the listing is background.
    title: "Two thirds of the seats for any party?",
    rules: "In 2010, a party took two thirds of the seats.",
    openAt: "2026-11-01T00:00Z",
    now: "2026-11-22T12:00Z",
    price: 0.4,
    mechanism: "unknown",
    theta: null,
    urgency: null,
    keyDates: [],
  },
  {
    // What happens if somebody wins is not the outcome of an election.
    title: "If the Blue Party wins, will Arvenia change its flag?",
    now: "2026-11-22T12:00Z",
    price: 0.4,
    mechanism: "unknown",
    theta: null,
    urgency: null,
    keyDates: [],
  },
  {
    title: "Will Harbor City win five games in a row before the Super Bowl?",
    closeAt: "2027-02-14T00:00Z",
    now: "2027-02-01T00:00Z",
    price: 0.4,
    schedule: "Super Bowl",
    mechanism: "continuous_monitoring",
    theta: null,
    urgency: "medium",
    keyDates: [
      "2027-02-14T00:00 Resolution expected by the venue (high)",
      "2027-02-14T23:30 Super Bowl kickoff (high)",
    ],
  },
  {
    // The time of the listing is unknown.
    title: "Will the dock strike end in the next two weeks?",
    now: "2026-11-22T12:00Z",
    price: 0.4,
    mechanism: "continuous_monitoring",
    theta: null,
    urgency: null,
    keyDates: [],
  },
  {
    // A figure over a period, in words that are not known as a statistic.
    title: "Will Arvenia's share of wind power exceed 10% for the year 2026?",
    now: "2026-11-22T12:00Z",
    price: 0.4,
    mechanism: "date_based",
    theta: null,
    urgency: null,
    keyDates: ["2026-12-31T23:59 End of the period in the title (high)"],
  },
  {
    title: "Who is the mystery guest?",
    now: "2026-11-22T12:00Z",
    price: 0.4,
    mechanism: "unknown",
    theta: null,
    urgency: null,
    keyDates: [],
  },
];

for (const market of [...OCCURRENCES, ...WORDINGS, ...NON_OCCURRENCES, ...UNKNOWN_DECAY]) testCheckedMarket(market);
