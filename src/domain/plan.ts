/** What a customer has booked. */
export type Plan = "free" | "pro" | "enterprise";

/** What a call counts as in the month's quota, and what it costs where it is paid for one by one. */
export type Tier = "LISTING" | "INSIGHT" | "STRATEGY" | "DEEP";

export const TIERS: readonly Tier[] = ["LISTING", "INSIGHT", "STRATEGY", "DEEP"];
