import type { Generated, GeneratedAlways } from "kysely";
import type { Allowance, Plan } from "../domain/plan.ts";

/**
 * The tables as `migrations/` makes them, for typed queries. Prices are integer micros of a contract that pays 1
 * (0 to 1,000,000), amounts are USD, times are UTC; null is "unknown", never 0.
 */
export interface Tables {
  meta: MetaTable;
  markets: MarketsTable;
  events: EventsTable;
  status_changes: StatusChangesTable;
  ticks: TicksTable;
  bars_5m: BarsTable;
  bars_1h: BarsTable;
  trades: TradesTable;
  history_coverage: HistoryCoverageTable;
  customers: CustomersTable;
  api_keys: ApiKeysTable;
  pending_signups: PendingSignupsTable;
  attempts: AttemptsTable;
  audit_log: AuditLogTable;
  sign_in_links: SignInLinksTable;
  sessions: SessionsTable;
  leases: LeasesTable;
  lease_candidates: LeaseCandidatesTable;
  quotes: QuotesTable;
  event_log: EventLogTable;
  event_log_head: EventLogHeadTable;
  payments: PaymentsTable;
}

/** Facts about the store itself: what its data is, how far jobs have come. */
export interface MetaTable {
  key: string;
  value: string;
}

export interface MarketsTable {
  /** Our short name of the market in the tables of history. */
  key: GeneratedAlways<number>;
  venue: string;
  market_id: string;
  event_id: string | null;
  title: string;
  status: string;
  close_at: Date | null;
  volume_24h_usd: number | null;
  updated_at: Date;
  /** JSON of the whole `MarketSnapshot`. */
  snapshot: string;
  /** Rises with every change within a venue, in the order of commits; 0 where no other node follows. */
  position: Generated<number>;
  /** The settlement last told in the event log; empty when it was settled without a known outcome; null before. */
  announced_outcome: Generated<string | null>;
}

export interface EventsTable {
  venue: string;
  event_id: string;
  /** JSON of the whole `EventListing`. */
  listing: string;
  position: Generated<number>;
}

export interface StatusChangesTable {
  market_key: number;
  changed_at: Date;
  from_status: string | null;
  to_status: string;
  outcome: unknown;
}

export interface TicksTable {
  market_key: number;
  /** Since when this was so. */
  event_at: Date;
  received_at: Date;
  bid: number | null;
  ask: number | null;
  last: number | null;
  yes_price: number | null;
  /** Traded since the market opened. */
  volume_total_usd: number | null;
}

/** One interval of a market. Prices hold for (start, end], so that the close is the last price at or before the end. */
export interface BarsTable {
  market_key: number;
  start_at: Date;
  yes_open: number | null;
  yes_high: number | null;
  yes_low: number | null;
  yes_close: number | null;
  bid_close: number | null;
  ask_close: number | null;
  volume_usd: number | null;
  /** Whether we saw it happen or fetched it from the venue afterwards. */
  source: "ticks" | "venue";
}

export interface TradesTable {
  market_key: number;
  trade_id: string;
  executed_at: Date;
  yes_price: number;
  /** Contracts. */
  size: number;
  taker_side: "yes" | "no" | null;
}

/** Spans of time whose history was fetched from the venue. */
export interface HistoryCoverageTable {
  market_key: number;
  interval_seconds: number;
  from_at: Date;
  to_at: Date;
}

export interface CustomersTable {
  customer_id: string;
  /** In canonical form, and no other customer's; null for those of a sandbox. */
  email: string | null;
  /** As the customer wants to be called. */
  name: Generated<string | null>;
  plan: Plan;
  status: "active" | "past_due" | "canceled";
  created_at: Date;
  /** Numbers of its own, where it has any; JSON of part of an allowance's. */
  quotas: Generated<Partial<Allowance["quotas"]> | null>;
  rate_limits: Generated<Partial<Allowance["rateLimits"]> | null>;
}

export interface ApiKeysTable {
  /** SHA-256 of the key; the key itself is nowhere. */
  key_hash: Uint8Array;
  key_id: string;
  customer_id: string;
  plan: Plan;
  /** The beginning of the key, to tell keys apart on a page. */
  prefix: string;
  name: string;
  created_at: Date;
  last_used_at: Generated<Date | null>;
  revoked_at: Generated<Date | null>;
}

/** Who has asked for an account and not yet opened the letter. */
export interface PendingSignupsTable {
  /** In canonical form. */
  email: string;
  name: string | null;
  /** The account's id, once it is one. */
  customer_id: string;
  /** SHA-256 of the link's token. */
  token_hash: Uint8Array;
  expires_at: Date;
}

/** Sliding logs that hold over nodes and restarts. */
export interface AttemptsTable {
  /** What is limited, for example `mail:` and a mailbox. */
  subject: string;
  /** Oldest first. */
  taken_at: Date[];
  last_at: Date;
}

/** Who changed what of which account. */
export interface AuditLogTable {
  audit_id: GeneratedAlways<number>;
  occurred_at: Date;
  actor_kind: string;
  actor_id: string;
  action: string;
  customer_id: string;
  /** JSON object without any secret. */
  details: unknown;
}

/** The one link of a customer that leads to a session. */
export interface SignInLinksTable {
  customer_id: string;
  /** SHA-256 of the link's token. */
  token_hash: Uint8Array;
  expires_at: Date;
}

/** Who is signed in to the account's page. */
export interface SessionsTable {
  /** Names the session in the audit log; opens nothing. */
  session_id: string;
  /** SHA-256 of the cookie's token. */
  token_hash: Uint8Array;
  customer_id: string;
  started_at: Date;
  /** When the customer last proved who he is. */
  proven_at: Date;
  /** To the minute. */
  last_seen_at: Date;
}

/** What only one node may do at a time, who does it, and until when. */
export interface LeasesTable {
  name: string;
  /** Empty when released. */
  holder: string;
  /** Rises with every take-over; writes under an older one are refused. */
  fence: number;
  /** By the store's own clock. */
  expires_at: Date;
  /** JSON of what the holder tells of its work. */
  report: string | null;
  reported_at: Date | null;
}

/** Nodes that would take leases, for sharing them evenly. */
export interface LeaseCandidatesTable {
  candidate: string;
  names: string[];
  expires_at: Date;
}

/** The present quote of a market where several nodes share the store: narrow, because it is written every second. */
export interface QuotesTable {
  market_key: number;
  venue: string;
  /** Rises with every change within a venue, in the order of commits. */
  position: number;
  bid: number | null;
  ask: number | null;
  bid_size: number | null;
  ask_size: number | null;
  last: number | null;
  indicative: number | null;
  volume_24h_usd: number | null;
  volume_total_usd: number | null;
  liquidity_usd: number | null;
  open_interest_usd: number | null;
  event_at: Date | null;
  /** When the quote was last confirmed. */
  updated_at: Date;
}

/** What happened. Only ever appended to, until retention drops the oldest. */
export interface EventLogTable {
  id: number;
  /** Names the happening, so that one told twice is kept once. */
  event_key: string;
  type: string;
  venue: string | null;
  market_id: string | null;
  occurred_at: Date;
  /** By the store's own clock. */
  appended_at: Generated<Date>;
  /** JSON object. */
  payload: string;
}

/** One row: how far the log goes. It changes in the transaction that appends. */
export interface EventLogHeadTable {
  is_only: Generated<boolean>;
  last_id: number;
  /** Retention has dropped the events up to this id. */
  dropped_through: number;
}

/** One signed authorization of a payer, and what became of it (docs/payments.md). */
export interface PaymentsTable {
  payment_id: GeneratedAlways<number>;
  /** CAIP-2; addresses and nonce in lower case. */
  network: string;
  asset: string;
  payer: string;
  nonce: string;
  /** Atomic units in decimal digits. */
  amount: string;
  valid_before: Date;
  /** SHA-256 of the signed authorization, and of the request that it pays for. */
  authorization_hash: Uint8Array;
  request_hash: Uint8Array;
  /** JSON of the signed authorization, while it may have to be settled again. */
  authorization_json: string | null;
  state: "reserved" | "verified" | "settling" | "settled" | "delivered" | "rejected" | "released" | "unknown";
  attempt: string;
  lease_until: Date;
  tries: Generated<number>;
  next_try_at: Date | null;
  reason: string | null;
  transaction_hash: string | null;
  response_status: number | null;
  /** JSON object. */
  response_headers: string | null;
  response_body: Uint8Array | null;
  response_until: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}
