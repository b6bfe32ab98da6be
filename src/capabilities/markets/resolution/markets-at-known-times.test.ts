import { type CheckedMarket, testCheckedMarket } from "../../../../test/support/resolution/check-market.ts";

const OTHERWISE = 'Otherwise, this market will resolve to "No".';
const RELEASE = { mechanism: "scheduled_data_release", theta: 0 } as const;
const OUTCOME = { mechanism: "event_outcome", theta: 0 } as const;
const OBSERVATION = { mechanism: "date_based", theta: null } as const;
const LOW = { urgency: "low" } as const;

const RELEASES: readonly CheckedMarket[] = [
  {
    title: "Fed decreases interest rates by 25 bps after December 2026 meeting?",
    rules:
      "The Fed interest rates are defined in this market by the upper bound of the target range. This market will resolve to the change in basis points against the level before the December 2026 meeting, currently scheduled for December 8-9, 2026.",
    closeAt: "2026-12-09T00:00Z",
    now: "2026-11-22T12:00Z",
    price: 0.6,
    ...RELEASE,
    ...LOW,
    schedule: "FOMC meeting",
    keyDates: ["2026-12-09T00:00 Resolution expected by the venue (high)", "2026-12-09T19:00 FOMC decision (high)"],
  },
  {
    title: "Will the Federal Reserve hike rates by 25bps at their January 2027 meeting?",
    rules:
      "If the Federal Reserve raises the target range by 25bps at its January 27, 2027 meeting, then the market resolves to Yes.",
    closeAt: "2027-01-27T18:55Z",
    expectedAt: "2027-01-27T19:05Z",
    now: "2027-01-26T19:00Z",
    price: 0.1,
    ...RELEASE,
    urgency: "high",
    schedule: "FOMC meeting",
    keyDates: [
      "2027-01-27T18:55 Trading closes (medium)",
      "2027-01-27T19:00 FOMC decision (high)",
      "2027-01-27T19:05 Resolution expected by the venue (high)",
    ],
  },
  {
    title: "Will 3 Fed rate cuts happen in 2027?",
    rules: `This market will resolve to "Yes" if exactly 3 cuts of 25 basis points are announced by the FOMC in 2027. ${OTHERWISE}`,
    closeAt: "2027-12-31T00:00Z",
    now: "2027-08-01T00:00Z",
    price: 0.2,
    ...RELEASE,
    ...LOW,
    schedule: "FOMC meeting",
    keyDates: [
      "2027-09-15T18:00 FOMC decision (medium)",
      "2027-10-27T18:00 FOMC decision (medium)",
      "2027-12-08T19:00 FOMC decision (high)",
      "2027-12-31T00:00 Resolution expected by the venue (high)",
    ],
  },
  {
    title: "Will CPI rise more than 0.3% in November 2026?",
    rules:
      "If the one-month change of the Consumer Price Index for November 2026 is above 0.3%, then the market resolves to Yes.",
    closeAt: "2026-12-10T13:25Z",
    expectedAt: "2026-12-10T15:00Z",
    now: "2026-11-22T12:00Z",
    price: 0.4,
    ...RELEASE,
    ...LOW,
    schedule: "Consumer Price Index",
    keyDates: [
      "2026-12-10T13:25 Trading closes (medium)",
      "2026-12-10T13:30 CPI release (high)",
      "2026-12-10T15:00 Resolution expected by the venue (high)",
    ],
  },
  {
    // No published date: 12 February 2027 is a Friday.
    title: "Will annual inflation be above 3.0% in January 2027?",
    rules: `This market will resolve to "Yes" if the 12-month change of the CPI reported by the Bureau of Labor Statistics is above 3.0%. ${OTHERWISE}`,
    closeAt: "2027-02-20T00:00Z",
    now: "2027-01-20T00:00Z",
    price: 0.4,
    ...RELEASE,
    ...LOW,
    schedule: "Consumer Price Index",
    keyDates: [
      "2027-02-12T13:30 CPI release (expected) (high)",
      "2027-02-20T00:00 Resolution expected by the venue (high)",
    ],
  },
  {
    title: "Will the US add more than 100,000 jobs in November 2026?",
    rules: `This market will resolve to "Yes" if total nonfarm payroll employment rises by more than 100,000. ${OTHERWISE}`,
    closeAt: "2026-12-04T13:30Z",
    now: "2026-12-01T13:30Z",
    price: 0.4,
    ...RELEASE,
    urgency: "medium",
    schedule: "Employment Situation",
    keyDates: ["2026-12-04T13:30 Jobs report (resolution expected by the venue) (high)"],
  },
  {
    title: "US GDP growth above 2% in Q4 2026?",
    rules: "Resolves YES if the advance estimate of real GDP growth for Q4 2026 exceeds 2.0%.",
    closeAt: "2027-01-31T00:00Z",
    now: "2027-01-20T00:00Z",
    price: 0.4,
    ...RELEASE,
    urgency: "medium",
    schedule: "Gross Domestic Product",
    keyDates: [
      "2027-01-28T13:30 GDP advance estimate (expected) (high)",
      "2027-01-31T00:00 Resolution expected by the venue (high)",
    ],
  },
  {
    // Thanksgiving is on Thursday, 26 November.
    title: "Initial jobless claims above 230K for the week ending November 21?",
    rules: `This market will resolve to "Yes" if initial jobless claims exceed 230,000 for that week. ${OTHERWISE}`,
    openAt: "2026-11-15T00:00Z",
    closeAt: "2026-11-25T13:25Z",
    expectedAt: "2026-11-25T14:00Z",
    price: 0.4,
    now: "2026-11-22T12:00Z",
    ...RELEASE,
    urgency: "medium",
    schedule: "Weekly jobless claims",
    keyDates: [
      "2026-11-25T13:25 Trading closes (medium)",
      "2026-11-25T13:30 Weekly jobless claims (high)",
      "2026-11-25T14:00 Resolution expected by the venue (high)",
    ],
  },
  {
    title: "Will the ECB cut rates in December 2026?",
    rules: `This market will resolve to "Yes" if the European Central Bank lowers the deposit facility rate at its meeting on December 17, 2026. ${OTHERWISE}`,
    closeAt: "2026-12-17T00:00Z",
    now: "2026-12-10T00:00Z",
    price: 0.4,
    ...RELEASE,
    urgency: "medium",
    schedule: "ECB monetary policy meeting",
    keyDates: ["2026-12-17T00:00 Resolution expected by the venue (high)", "2026-12-17T13:15 ECB decision (high)"],
  },
];

const OUTCOMES: readonly CheckedMarket[] = [
  {
    // The venue closes three days after the game, but expects the result tonight.
    title: "San Marco wins by over 3.5 runs?",
    rules:
      "If San Marco wins by more than 3.5 runs in the Harborview vs San Marco professional baseball game originally scheduled for Aug 7, 2026 at 9:40 PM EDT, then the market resolves to Yes.",
    closeAt: "2026-08-11T01:40Z",
    expectedAt: "2026-08-08T04:40Z",
    now: "2026-08-07T20:00Z",
    price: 0.3,
    ...OUTCOME,
    urgency: "critical",
    keyDates: [
      "2026-08-08T01:40 Scheduled date in the rules (high)",
      "2026-08-08T04:40 Resolution expected by the venue (high)",
      "2026-08-11T01:40 Trading closes (medium)",
    ],
  },
  {
    // New York is on standard time from 1 November.
    title: "Will the Blue Party win the CA-38 House seat?",
    rules: `This market will resolve to "Yes" if the candidate of the Blue Party wins the CA-38 House seat in the 2026 midterm elections. ${OTHERWISE}`,
    closeAt: "2026-11-03T00:00Z",
    now: "2026-10-20T12:00Z",
    price: 0.9,
    ...OUTCOME,
    urgency: "medium",
    schedule: "US federal election",
    keyDates: [
      "2026-11-03T00:00 Resolution expected by the venue (high)",
      "2026-11-03T05:00 US midterm election day (high)",
    ],
  },
  {
    title: "Will Rosa Lind be the Green nominee for Vermland Governor?",
    rules:
      'This market will resolve according to the winner of the Green Primary for Governor of Vermland, scheduled to take place on August 18, 2026. If no primary takes place by November 3, 2026, 11:59 PM ET, this market will resolve to "Other".',
    closeAt: "2026-08-18T00:00Z",
    now: "2026-08-16T00:00Z",
    price: 0.5,
    ...OUTCOME,
    urgency: "high",
    keyDates: [
      "2026-08-18T00:00 Resolution expected by the venue (high)",
      "2026-08-18T04:00 Scheduled date in the rules (high)",
      "2026-11-04T04:59 Fallback deadline in the rules (medium)",
    ],
  },
  {
    title: "Will Lena Frost win Best Actress at the 99th Academy Awards?",
    rules: "This market will resolve according to the actress who wins at the ceremony on March 14, 2027.",
    closeAt: "2027-03-14T00:00Z",
    now: "2027-03-01T00:00Z",
    price: 0.5,
    ...OUTCOME,
    urgency: "medium",
    schedule: "Academy Awards",
    keyDates: [
      "2027-03-14T00:00 Resolution expected by the venue (high)",
      "2027-03-14T23:00 Academy Awards ceremony (high)",
    ],
  },
  {
    // Of the finals of 2027 to 2029, only those before the expected result.
    title: "Will Harbor City win the 2027 Pro Basketball Finals?",
    rules: "If Harbor City wins the 2027 Pro Basketball Finals, then the market resolves to Yes.",
    closeAt: "2029-07-30T14:00Z",
    expectedAt: "2027-07-31T14:00Z",
    now: "2026-11-22T12:00Z",
    price: 0.05,
    ...OUTCOME,
    ...LOW,
    schedule: "NBA Finals",
    keyDates: [
      "2027-06-03T04:00 NBA Finals begin (expected) (high)",
      "2027-07-31T14:00 Resolution expected by the venue (high)",
      "2029-07-30T14:00 Trading closes (medium)",
    ],
  },
  {
    title: "Will Aldmoor win the 2026–27 Champions League?",
    rules: `This market will resolve to "Yes" if Aldmoor wins the 2026–27 UEFA Champions League. ${OTHERWISE}`,
    closeAt: "2027-06-05T00:00Z",
    now: "2026-11-22T12:00Z",
    price: 0.1,
    ...OUTCOME,
    ...LOW,
    schedule: "UEFA Champions League final",
    keyDates: [
      "2027-06-04T22:00 Champions League final (high)",
      "2027-06-05T00:00 Resolution expected by the venue (high)",
    ],
  },
  {
    title: "Will Redport win Super Bowl LXI?",
    rules: `This market will resolve to "Yes" if Redport wins Super Bowl LXI. ${OTHERWISE}`,
    closeAt: "2027-02-14T00:00Z",
    now: "2027-02-12T00:00Z",
    price: 0.5,
    ...OUTCOME,
    urgency: "high",
    schedule: "Super Bowl",
    keyDates: [
      "2027-02-14T00:00 Resolution expected by the venue (high)",
      "2027-02-14T23:30 Super Bowl kickoff (high)",
    ],
  },
  {
    title: "Counter-Strike: Kestrel vs Borealis (BO3)",
    rules:
      'This market refers to the match between Kestrel and Borealis, initially scheduled for April 5 at 11:00AM ET. This market will resolve to "Kestrel" if Kestrel win the match. If the match is canceled or delayed beyond 7 days, this market will resolve to 50-50.',
    openAt: "2026-04-01T00:00Z",
    closeAt: "2026-04-05T21:10Z",
    now: "2026-04-05T12:00Z",
    price: 0.5,
    ...OUTCOME,
    urgency: "critical",
    keyDates: [
      "2026-04-05T15:00 Scheduled date in the rules (high)",
      "2026-04-05T21:10 Resolution expected by the venue (high)",
    ],
  },
  {
    title: "Arvenia and Lydonia both to score?",
    rules:
      'This market will resolve to "YES" if both Arvenia and Lydonia score at least one goal during regular time in the World Cup match scheduled for June 19, 2026, 19:00 UTC. Otherwise, this market will resolve to "NO".',
    closeAt: "2026-06-20T00:00Z",
    now: "2026-06-17T00:00Z",
    price: 0.5,
    ...OUTCOME,
    urgency: "medium",
    keyDates: [
      "2026-06-19T19:00 Scheduled date in the rules (high)",
      "2026-06-20T00:00 Resolution expected by the venue (high)",
    ],
  },
];

/** Events at a known time whose date the texts do not name. */
const UNDATED_OUTCOMES: readonly CheckedMarket[] = [
  "Will Ivo Marr attend the Northern Summit?",
  "Will Orla Finch be re-elected Mayor of Kell?",
].map((title) => ({
  title,
  closeAt: "2026-12-20T00:00Z",
  now: "2026-12-10T00:00Z",
  price: 0.4,
  ...OUTCOME,
  urgency: "medium",
  keyDates: ["2026-12-20T00:00 Resolution expected by the venue (high)"],
}));

const OBSERVATIONS: readonly CheckedMarket[] = [
  {
    // The question is about a price at one time, so theta is null. The date is only in the title.
    title: "Will the price of Kellcoin be above $64,000 on March 11?",
    rules: `This market will resolve to "Yes" if the Example Exchange 1 minute candle for KELL 12:00 in the ET timezone (noon) on the date specified in the title has a final "Close" price higher than the price specified in the title. ${OTHERWISE}`,
    openAt: "2027-03-04T17:00Z",
    closeAt: "2027-03-11T17:00Z",
    now: "2027-03-11T10:00Z",
    price: 0.99,
    ...OBSERVATION,
    urgency: "critical",
    keyDates: ["2027-03-11T05:00 Date in the title (high)", "2027-03-11T17:00 Resolution expected by the venue (high)"],
  },
  {
    title: "Will Mira Vale be the top artist for 2026?",
    closeAt: "2027-01-05T00:00Z",
    now: "2026-12-25T00:00Z",
    price: 0.8,
    ...OBSERVATION,
    urgency: "medium",
    keyDates: [
      "2026-12-31T23:59 End of the period in the title (high)",
      "2027-01-05T00:00 Resolution expected by the venue (high)",
    ],
  },
  {
    title: "SOL Up or Down - 5 Min",
    rules:
      'This market will resolve to "Up" if the SOL/USD price on June 21, 2026, at 18:30 UTC is greater than or equal to the price captured on June 21, 2026, at 18:25 UTC. Otherwise, this market will resolve to "Down".',
    closeAt: "2026-06-21T18:30Z",
    now: "2026-06-21T18:27Z",
    price: 0.97,
    ...OBSERVATION,
    urgency: "critical",
    keyDates: ["2026-06-21T18:30 Date in the rules (resolution expected by the venue) (high)"],
  },
  {
    title: "Will the high temp in Harborview be 81-82° on Aug 8, 2026?",
    rules:
      "If the highest temperature recorded at Central Station on August 8, 2026 is between 81-82°, then the market resolves to Yes.",
    closeAt: "2026-08-09T03:59Z",
    now: "2026-08-07T12:00Z",
    price: 0.3,
    ...OBSERVATION,
    urgency: "high",
    keyDates: ["2026-08-08T00:00 Date in the rules (high)", "2026-08-09T03:59 Resolution expected by the venue (high)"],
  },
  {
    title: "Will Example Corp be the largest company in the world by market cap on December 31?",
    rules: `This market will resolve to "Yes" if Example Corp is the largest company by market capitalization on December 31, 2026, at market close. ${OTHERWISE}`,
    closeAt: "2026-12-31T00:00Z",
    now: "2026-12-20T00:00Z",
    price: 0.8,
    ...OBSERVATION,
    urgency: "medium",
    keyDates: ["2026-12-31T00:00 Date in the rules (resolution expected by the venue) (high)"],
  },
  {
    title: "Will Example Labs have the top AI model at the end of January 2027?",
    rules: `This market will resolve to "Yes" if Example Labs has the highest score when the table is checked on January 31, 2027, 12:00 PM ET. ${OTHERWISE}`,
    closeAt: "2027-01-31T00:00Z",
    now: "2027-01-20T00:00Z",
    price: 0.8,
    ...OBSERVATION,
    urgency: "medium",
    keyDates: ["2027-01-31T00:00 Resolution expected by the venue (high)", "2027-01-31T17:00 Date in the rules (high)"],
  },
  {
    // The price of an asset: the next macroeconomic releases may move it.
    title: "Bitcoin above $90,000 on December 10?",
    rules: `This market will resolve to "Yes" if the Example Exchange 1 minute candle for BTCUSD 12:00 ET on December 10, 2026 has a final "Close" price above $90,000. ${OTHERWISE}`,
    openAt: "2026-12-01T00:00Z",
    closeAt: "2026-12-10T17:00Z",
    now: "2026-12-02T12:00Z",
    price: 0.4,
    ...OBSERVATION,
    urgency: "medium",
    keyDates: [
      "2026-12-04T13:30 Jobs report (medium)",
      "2026-12-09T19:00 FOMC decision (medium)",
      "2026-12-10T13:30 CPI release (medium)",
      "2026-12-10T17:00 Date in the rules (resolution expected by the venue) (high)",
    ],
  },
  {
    title: "Will Vento deliver more than 500,000 cars in Q1 2027?",
    rules: `This market will resolve to "Yes" if Vento reports total deliveries of more than 500,000 vehicles in Q1 2027. ${OTHERWISE}`,
    closeAt: "2027-04-02T00:00Z",
    now: "2027-03-01T00:00Z",
    price: 0.4,
    ...OBSERVATION,
    ...LOW,
    keyDates: [
      "2027-03-31T23:59 End of the period in the rules (high)",
      "2027-04-02T00:00 Resolution expected by the venue (high)",
    ],
  },
  {
    // Another country's statistic has another calendar.
    title: "Will Argentina's monthly inflation be above 2% in November?",
    openAt: "2026-11-10T00:00Z",
    closeAt: "2026-12-11T00:00Z",
    now: "2026-11-22T00:00Z",
    price: 0.4,
    ...OBSERVATION,
    ...LOW,
    keyDates: [
      "2026-11-30T23:59 End of the period in the title (high)",
      "2026-12-11T00:00 Resolution expected by the venue (high)",
    ],
  },
];

/** Markets that are no longer open. */
const CLOSED: readonly CheckedMarket[] = [
  {
    title: "Settled: will the Kell ferry sail by May 1, 2027?",
    rules: `This market will resolve to "Yes" if the ferry sails by May 1, 2027. ${OTHERWISE}`,
    closeAt: "2027-05-01T00:00Z",
    now: "2026-11-22T00:00Z",
    price: 0.99,
    status: "finalized",
    mechanism: "continuous_monitoring",
    theta: null,
    urgency: null,
    keyDates: [
      "2027-05-01T00:00 Resolution expected by the venue (high)",
      "2027-05-01T23:59 Deadline in the rules (high)",
    ],
  },
  {
    title: "Proposed: will the FOMC cut rates in January 2027?",
    closeAt: "2027-01-27T19:00Z",
    now: "2027-01-20T00:00Z",
    price: 0.99,
    status: "determined",
    mechanism: "scheduled_data_release",
    theta: null,
    urgency: null,
    schedule: "FOMC meeting",
    keyDates: ["2027-01-27T19:00 Resolution expected by the venue (high)"],
  },
  {
    title: "Awaiting the result: will the Kell ferry sail by May 1, 2026?",
    closeAt: "2026-05-02T00:00Z",
    now: "2026-05-02T03:00Z",
    price: 0.5,
    status: "closed",
    mechanism: "continuous_monitoring",
    theta: null,
    urgency: "critical",
    keyDates: [],
  },
];

for (const market of [...RELEASES, ...OUTCOMES, ...UNDATED_OUTCOMES, ...OBSERVATIONS, ...CLOSED])
  testCheckedMarket(market);
