import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { type LimitedNodes, openLimitedNodes } from "../../harness/limited-nodes.ts";
import { type OwnRedis, startOwnRedis } from "../../harness/own-redis.ts";
import type { RowOptions, ScoreboardRow } from "../row.ts";
import { runTests } from "../run-tests.ts";

const LIMITS_FILE = "src/capabilities/accounts/metering/limits.ts";
const WINDOW_MS = 60_000;
const NODE_COUNT = 3;
/** Calls a minute of the key that exceeds its limit. */
const PER_MINUTE = 120;
const PRESSURE_FACTOR = 10;
const BUSY_KEY = "busy";
const FREE_KEY = "free";
const UNREACHED_LIMIT = 1e9;
const FAULT_MS = 10_000;
const FAULT_MS_QUICK = 3_000;
const RECOVERY_MS_MAX = 2_000;
const CALL_PAUSE_MS = 10;

const perMinute = (key: string) => (key === BUSY_KEY ? PER_MINUTE : UNREACHED_LIMIT);

export const redisOutageRow: ScoreboardRow = {
  id: "S18",
  figure:
    "5xx responses and calls above the limit while Redis is stopped, frozen and emptied, and time until nodes share limits again",
  target: `0, at most the limit on each of ${NODE_COUNT} nodes, <= ${RECOVERY_MS_MAX / 1_000} s`,
  mutations: [
    {
      defence: "each node applies its own limit if Redis does not answer",
      file: LIMITS_FILE,
      find: "          setSharedError(error);\n          return decision;\n        },\n      );\n    },\n    /** Returns whether",
      replace:
        "          setSharedError(error);\n          localCounters[limitClass].removeNewest(caller);\n          return decision;\n        },\n      );\n    },\n    /** Returns whether",
    },
    {
      defence: "Redis is used again after a failure",
      file: LIMITS_FILE,
      find: "const SHARED_RETRY_DELAY_MS = 1_000;",
      replace: "const SHARED_RETRY_DELAY_MS = 600_000;",
    },
  ],
  async measure({ quick, print }) {
    await using redis = await startOwnRedis();
    const prefix = `bench:${randomUUID()}:`;
    const results = { calls: 0, errors: 0 };
    const recoveries: string[] = [];
    let longestRecoveryMs = 0;
    const allAcceptedAt: number[] = [];
    const faults = {
      stopped: { start: redis.stop, end: redis.start },
      frozen: { start: async () => redis.freeze(), end: async () => redis.thaw() },
      emptied: { start: redis.empty, end: async () => {} },
    };
    await using nodes = await openLimitedNodes({ redisUrl: redis.url, prefix, perMinute });
    await waitForSharedLimits(nodes, redis, prefix);
    for (const [name, { start, end }] of Object.entries(faults)) {
      const load = startLoad(nodes);
      await pause(quick ? FAULT_MS_QUICK / 3 : FAULT_MS / 3);
      await start();
      await pause(quick ? FAULT_MS_QUICK : FAULT_MS);
      await end();
      const recoveryMs = await waitForSharedLimits(nodes, redis, prefix);
      longestRecoveryMs = Math.max(longestRecoveryMs, recoveryMs);
      recoveries.push(`${name} ${Math.round(recoveryMs)} ms`);
      const { calls, errors, acceptedAt } = await load.stop();
      results.calls += calls;
      results.errors += errors;
      allAcceptedAt.push(...acceptedAt);
      print(`${name}: ${calls} calls, ${errors} errors, ${acceptedAt.length} accepted`);
    }
    const accepted = maxInWindow(allAcceptedAt);
    const acceptedMax = NODE_COUNT * PER_MINUTE;
    return {
      isMet: results.errors === 0 && accepted <= acceptedMax && longestRecoveryMs <= RECOVERY_MS_MAX,
      value: `${results.errors} 5xx in ${results.calls} calls; at most ${accepted} of ${acceptedMax} accepted in 60 s; limits shared again after ${recoveries.join(", ")}`,
    };
  },
};

/** Calls all nodes with a key over its limit and a key without one. */
function startLoad(nodes: LimitedNodes) {
  let isStopped = false;
  let calls = 0;
  let errors = 0;
  const acceptedAt: number[] = [];
  const callers = Array.from({ length: NODE_COUNT }, async (_, node) => {
    while (!isStopped) {
      const [busy, free] = await Promise.all([nodes.call(node, BUSY_KEY), nodes.call(node, FREE_KEY)]);
      calls += 2;
      errors += [busy, free].filter((status) => status >= 500).length;
      if (free !== 200 && free < 500) throw new Error(`a call within the limit got ${free}`);
      if (busy === 200) acceptedAt.push(performance.now());
      await pause(CALL_PAUSE_MS);
    }
  });
  const ended = Promise.all(callers);
  return {
    async stop() {
      isStopped = true;
      await ended;
      return { calls, errors, acceptedAt };
    },
  };
}

/** Waits until every node counts in Redis, and returns the milliseconds. */
async function waitForSharedLimits(nodes: LimitedNodes, redis: OwnRedis, prefix: string): Promise<number> {
  const startedAt = performance.now();
  const client = new Redis(redis.url, { maxRetriesPerRequest: null });
  client.on("error", () => {});
  try {
    for (let node = 0; node < NODE_COUNT; node++) {
      const key = `probe-${node}-${randomUUID()}`;
      while ((await client.keys(`${prefix}*${key}`)).length === 0) {
        if (performance.now() - startedAt > 10 * RECOVERY_MS_MAX) return Number.POSITIVE_INFINITY;
        await nodes.call(node, key);
      }
    }
    return performance.now() - startedAt;
  } finally {
    client.disconnect();
  }
}

/** Returns the largest number of timestamps in any window of 60 seconds. */
function maxInWindow(times: readonly number[]): number {
  let first = 0;
  let count = 0;
  for (const [last, time] of times.entries()) {
    while (time - (times[first] ?? time) >= WINDOW_MS) first += 1;
    count = Math.max(count, last - first + 1);
  }
  return count;
}

export const rateLimitRow: ScoreboardRow = {
  id: "S29",
  figure: `calls accepted above the limit in any 60 s on 3 nodes at ${PRESSURE_FACTOR} times the limit, and effect of forged forwarding headers`,
  target: "0 over, 0 sign-ups or calls gained by forged headers",
  mutations: [
    {
      defence: "nodes share their limits",
      file: LIMITS_FILE,
      find: "if (shared === null || !decision.isAllowed || now < retrySharedAt) return decision;\n      return shared.take(",
      replace:
        "if (shared !== null || !decision.isAllowed || now < retrySharedAt) return decision;\n      return Object(shared).take(",
    },
    {
      defence: "requests leave the window one by one",
      file: "src/adapters/metering/redis-limit-log.ts",
      find: "if count >= limit then",
      replace: "if count >= limit * 2 then",
    },
  ],
  async measure(options) {
    const { calls, accepted } = await measurePressure(options);
    const names = [/forwarding headers/];
    const headers = await runTests(["src/capabilities/accounts/metering/address-limits.test.ts"], names);
    return {
      isMet: accepted <= PER_MINUTE && headers.failed.length === 0,
      value: `at most ${accepted} of ${PER_MINUTE} accepted in any 60 s, ${calls} calls; forged headers: ${headers.passed} tests passed, ${headers.failed.length} failed`,
    };
  },
};

async function measurePressure({ quick }: RowOptions): Promise<{ calls: number; accepted: number }> {
  await using redis = await startOwnRedis();
  const prefix = `bench:${randomUUID()}:`;
  await using nodes = await openLimitedNodes({ redisUrl: redis.url, prefix, perMinute });
  await waitForSharedLimits(nodes, redis, prefix);
  const durationMs = quick ? 10_000 : 3 * WINDOW_MS;
  // A short run makes as many calls as a run of a minute.
  const total = Math.round((PER_MINUTE * PRESSURE_FACTOR * Math.max(durationMs, WINDOW_MS)) / WINDOW_MS);
  const acceptedAt: number[] = [];
  const startedAt = performance.now();
  let calls = 0;
  const send = async (node: number) => {
    for (let index = node; index < total; index += NODE_COUNT) {
      await pause(Math.max(0, startedAt + (index * durationMs) / total - performance.now()));
      const status = await nodes.call(node, BUSY_KEY);
      calls += 1;
      if (status === 200) acceptedAt.push(performance.now());
      else if (status !== 429) throw new Error(`a call got ${status}`);
    }
  };
  await Promise.all(Array.from({ length: NODE_COUNT }, (_, node) => send(node)));
  if (acceptedAt.length < PER_MINUTE) throw new Error(`only ${acceptedAt.length} calls were accepted`);
  return { calls, accepted: maxInWindow(acceptedAt) };
}
