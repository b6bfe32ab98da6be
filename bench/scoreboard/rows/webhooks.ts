import { readTestDatabaseUrl } from "../../harness/own-database.ts";
import { runProgramForRows } from "../../harness/program.ts";
import type { ScoreboardRow } from "../row.ts";

const PROGRAM = "webhooks.ts";
/** The receiver fails 30% of the requests. Fewer mean that the faults did not happen. */
const FAULT_SHARE_MIN = 0.25;
const REPEATED_SHARE_MAX = 0.005;
const FIRST_ATTEMPT_P99_MS_MAX = 250;
const EVENTS_PER_SECOND = 200;
const DEAD_ENDPOINTS = 10;
const DEAD_ENDPOINTS_RATIO_MAX = 1.2;

interface KillFigures {
  readonly events: number;
  readonly endpoints: number;
  readonly kills: number;
  readonly lost: number;
  readonly requests: number;
  readonly faults: number;
  readonly repeatedAfterSuccess: number;
  readonly invalid: number;
  readonly changedBodies: number;
}

export const webhookKillsRow: ScoreboardRow = {
  id: "S5",
  figure: "webhook events lost, invalid or repeated with 30% receiver faults and killed dispatchers",
  target: "10,000 events to 5 endpoints, 5 kills: 0 lost, 0 invalid, repeated < 0.5%",
  mutations: [
    {
      defence: "a failed delivery is retried",
      file: "src/capabilities/events/webhooks/outcome.ts",
      find: "const isLast = disables || delayMs === undefined;",
      replace: "const isLast = true;",
    },
    {
      defence: "live nodes take over the webhooks of a killed node",
      file: "src/capabilities/events/webhooks/node-queries.ts",
      find: "or not exists (select from webhook_nodes where node_id = holder and expires_at > clock_timestamp()))",
      replace: "or holder is null or not exists (select from webhook_nodes where node_id = holder))",
    },
  ],
  async measure({ quick }) {
    readTestDatabaseUrl();
    const kills = quick ? 2 : 5;
    const args = ["kills", "--events", quick ? 1_000 : 10_000, "--endpoints", 5, "--kills", kills];
    const [figures] = await runProgramForRows<KillFigures>(PROGRAM, args);
    if (figures === undefined) throw new Error("the program printed no figures");
    const deliveries = figures.events * figures.endpoints;
    const faultShare = figures.faults / figures.requests;
    if (figures.kills !== kills) throw new Error(`${figures.kills} of ${kills} kills happened`);
    // If no node takes over, there may be no requests and thus no faults. The events are then lost, which is a FAIL.
    if (figures.lost === 0 && !(faultShare >= FAULT_SHARE_MIN))
      throw new Error(`only ${faultShare} of the requests failed`);
    const repeatedShare = figures.repeatedAfterSuccess / deliveries;
    return {
      isMet:
        figures.lost === 0 &&
        figures.invalid === 0 &&
        figures.changedBodies === 0 &&
        repeatedShare < REPEATED_SHARE_MAX,
      value: `${figures.lost} lost of ${deliveries} deliveries, ${figures.invalid} invalid, ${figures.changedBodies} with another body, ${(repeatedShare * 100).toFixed(2)}% repeated after a success; ${figures.kills} kills, ${figures.faults} faults in ${figures.requests} requests`,
    };
  },
};

interface RateFigures {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly lost: number;
  readonly invalid: number;
  readonly deliveriesPerSecond: number;
}

export const firstAttemptRow: ScoreboardRow = {
  id: "S6",
  figure: `time from the commit of an event to its first delivery attempt at ${EVENTS_PER_SECOND} events/s`,
  target: `p99 <= ${FIRST_ATTEMPT_P99_MS_MAX} ms`,
  mutations: [
    {
      defence: "an append wakes the nodes that deliver",
      file: "src/event-log/event-log.ts",
      find: "announce: () => bus.publish(EVENTS_TOPIC),",
      replace: "announce: () => {},",
    },
  ],
  async measure({ quick }) {
    readTestDatabaseUrl();
    const args = ["rate", "--endpoints", 1, "--rate", EVENTS_PER_SECOND, "--seconds", quick ? 10 : 60];
    const [figures] = await runProgramForRows<RateFigures>(PROGRAM, args);
    if (figures === undefined) throw new Error("the program printed no figures");
    const { p50Ms, p99Ms, lost, invalid, deliveriesPerSecond } = figures;
    return {
      isMet: p99Ms <= FIRST_ATTEMPT_P99_MS_MAX && lost === 0 && invalid === 0,
      value: `p50 ${p50Ms} ms, p99 ${p99Ms} ms; ${deliveriesPerSecond} deliveries/s, ${lost} lost, ${invalid} invalid`,
    };
  },
};

interface DeadFigures {
  readonly medianRatio?: number;
  readonly p99WithoutDeadMs?: number;
  readonly p99WithDeadMs?: number;
  /** Requests to the endpoints that never answer. */
  readonly unanswered?: number;
}

export const deadEndpointsRow: ScoreboardRow = {
  id: "S7",
  figure: "p99 delay of 40 healthy endpoints beside 10 that never answer, divided by the p99 without them",
  target: `<= ${DEAD_ENDPOINTS_RATIO_MAX}`,
  mutations: [
    {
      defence: "failing endpoints have slots of their own, and there are more slots than attempts without an answer",
      file: "src/capabilities/events/webhooks/dispatcher.ts",
      find: `healthy: new FairSemaphore(shareOf(HEALTHY_ATTEMPTS_MAX)),
        slow: new FairSemaphore(shareOf(SLOW_ATTEMPTS_MAX)),
        late: new FairSemaphore(shareOf(LATE_ATTEMPTS_MAX)),
        failing: new FairSemaphore(shareOf(FAILING_ATTEMPTS_MAX)),`,
      replace:
        "...((shared) => ({ healthy: shared, slow: shared, late: shared, failing: shared }))(new FairSemaphore({ slots: 36 })),",
    },
  ],
  async measure({ quick }) {
    readTestDatabaseUrl();
    const [rounds, deadlineMs] = quick ? [5, 1_000] : [9, 10_000];
    const load = [
      "--endpoints",
      50,
      "--dead",
      DEAD_ENDPOINTS,
      "--rounds",
      rounds,
      "--seconds",
      5,
      "--deadline",
      deadlineMs,
    ];
    const rows = await runProgramForRows<DeadFigures>(PROGRAM, ["dead", ...load]);
    const measured = rows.filter(({ p99WithDeadMs }) => p99WithDeadMs !== undefined);
    const ratio = rows.find(({ medianRatio }) => medianRatio !== undefined)?.medianRatio;
    if (ratio === undefined) throw new Error("the program printed no ratio");
    if (measured.length !== rounds || measured.some(({ unanswered = 0 }) => unanswered < DEAD_ENDPOINTS))
      throw new Error("not every round had a request to each endpoint that never answers");
    const pairs = measured.map(({ p99WithoutDeadMs, p99WithDeadMs }) => `${p99WithoutDeadMs}:${p99WithDeadMs}`);
    return {
      isMet: ratio <= DEAD_ENDPOINTS_RATIO_MAX,
      value: `median ratio ${ratio} of ${measured.length} rounds (ms without:with ${pairs.join(", ")})`,
    };
  },
};
