import { setTimeout as pause } from "node:timers/promises";
import { openPostgresBus } from "../../../src/adapters/bus/postgres-bus.ts";
import { openRedisBus } from "../../../src/adapters/bus/redis-bus.ts";
import { migrateDatabase } from "../../../src/adapters/database/migrations.ts";
import { openPostgresDatabase } from "../../../src/adapters/database/postgres-database.ts";
import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../../src/adapters/system/system-random.ts";
import { buildApp } from "../../../src/app/index.ts";
import { createKey } from "../../../src/capabilities/accounts/keys/index.ts";
import { replaceKey } from "../../../src/capabilities/accounts/keys/queries.ts";
import type { Bus } from "../../../src/ports/bus.ts";
import { plainAppPorts } from "../../../test/support/app-ports.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { UNREACHED_ALLOWANCE } from "../../../test/support/venues/lifted-limits.ts";
import { ScriptedVenue } from "../../../test/support/venues/scripted-venue.ts";
import { reserveSchema } from "../../harness/own-database.ts";
import { startOwnRedis } from "../../harness/own-redis.ts";
import type { ScoreboardRow } from "../row.ts";

const NODE_COUNT = 3;
const ROTATIONS = 20;
const ROTATIONS_QUICK = 5;
const REDIS_MS_MAX = 250;
const POSTGRES_MS_MAX = 1_000;
/** The key is used for this time before its rotation, and for `WATCHED_MS` after it. */
const USED_MS = 700;
const WATCHED_MS = 2_000;
const CALL_PAUSE_MS = 5;
const REQUEST_MS_MAX = 10_000;
const VENUE = {
  id: "alpha",
  referenceOnly: false,
  playMoney: false,
  create: () => new ScriptedVenue("alpha", systemClock),
};

export const keyRotationRow: ScoreboardRow = {
  id: "S24",
  figure: `last success of a rotated key on ${NODE_COUNT} nodes under load, after the answer to the rotation`,
  target: `<= ${REDIS_MS_MAX} ms with Redis, <= ${POSTGRES_MS_MAX} ms without`,
  mutations: [
    {
      defence: "a rotation clears the caches of all nodes",
      file: "src/capabilities/accounts/index.ts",
      find: "bus.subscribe(KEYS_TOPIC, () => keys.clear())",
      replace: "bus.subscribe(KEYS_TOPIC, () => {})",
    },
  ],
  async measure({ quick }) {
    const rotations = quick ? ROTATIONS_QUICK : ROTATIONS;
    await using redis = await startOwnRedis();
    const withRedis = await measureRotations("redis", rotations, redis.url);
    const withoutRedis = await measureRotations("postgres", rotations, redis.url);
    const calls = withRedis.successes + withoutRedis.successes;
    if (calls === 0) throw new Error("no call with a valid key succeeded");
    return {
      isMet: withRedis.lastMs <= REDIS_MS_MAX && withoutRedis.lastMs <= POSTGRES_MS_MAX,
      value: `${Math.round(withRedis.lastMs)} ms with Redis, ${Math.round(withoutRedis.lastMs)} ms without; ${rotations} rotations each, ${calls} successful calls`,
    };
  },
};

/** Opens three nodes on one schema, and measures the longest time from a rotation's answer to a success of the old key. */
async function measureRotations(busKind: "redis" | "postgres", rotations: number, redisUrl: string) {
  await using closers = new AsyncDisposableStack();
  const target = reserveSchema(`rotation_${busKind}`);
  closers.defer(target.drop);
  const shared = { clock: systemClock, random: systemRandom, log: quietLog };
  const openBus = (): Bus =>
    busKind === "redis"
      ? openRedisBus({ ...shared, url: redisUrl })
      : openPostgresBus({ ...shared, url: target.url, channel: target.schema });
  const openNode = async () => {
    const database = await openPostgresDatabase({ url: target.url, schema: target.schema, log: quietLog });
    closers.defer(() => database.close());
    await migrateDatabase(database);
    closers.defer(async () => void (await database.query(`drop schema if exists ${target.schema}_jobs cascade`)));
    const bus = openBus();
    closers.defer(() => bus.close());
    const app = await buildApp(plainAppPorts({ database, bus, log: quietLog, venues: [VENUE] }));
    closers.defer(() => app.http.close());
    await app.metering.start();
    closers.defer(() => app.stop());
    app.start();
    return { database, app };
  };
  const nodes: Awaited<ReturnType<typeof openNode>>[] = [];
  for (let number = 0; number < NODE_COUNT; number++) nodes.push(await openNode());
  const [first] = nodes;
  if (first === undefined) throw new Error("there is no node");
  let addresses = 0;
  /** Each request comes from another address, so that no limit per address refuses it. */
  const send = async (node: (typeof nodes)[number], key: string, method: "GET" | "POST", url: string) => {
    const remoteAddress = `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses++ & 255}`;
    const headers = { authorization: `Bearer ${key}` };
    const response = await node.app.http.inject({ method, url, remoteAddress, headers });
    return response.statusCode;
  };
  const unexpected = new Set<number>();
  let lastMs = 0;
  let successes = 0;
  for (let rotation = 0; rotation < rotations; rotation++) {
    const created = createKey(systemRandom, "enterprise");
    const customerId = `cus-${rotation}`;
    const customer = { customerId, plan: "enterprise", customLimits: UNREACHED_ALLOWANCE } as const;
    await replaceKey(first.database, customer, { ...created, keyId: `key-${rotation}`, name: "main" }, Date.now());
    let rotatedAt = Number.POSITIVE_INFINITY;
    let isStopped = false;
    const callers = nodes.map(async (node) => {
      while (!isStopped) {
        const status = await send(node, created.key, "GET", "/v1/categories");
        const now = performance.now();
        if (status !== 200 && status !== 401) unexpected.add(status);
        if (status === 200) {
          successes += 1;
          if (now > rotatedAt) lastMs = Math.max(lastMs, now - rotatedAt);
        }
        await pause(CALL_PAUSE_MS);
      }
    });
    await pause(USED_MS);
    const status = await send(first, created.key, "POST", "/v1/customers/me/keys/rotate");
    rotatedAt = performance.now();
    if (status !== 200) {
      isStopped = true;
      await Promise.all(callers);
      throw new Error(`the rotation returned ${status}`);
    }
    await pause(WATCHED_MS);
    isStopped = true;
    await Promise.race([
      Promise.all(callers),
      pause(REQUEST_MS_MAX, null, { ref: false }).then(() => {
        throw new Error("a call has no answer");
      }),
    ]);
  }
  if (unexpected.size > 0) throw new Error(`calls returned ${[...unexpected].join(", ")}`);
  return { lastMs, successes };
}
