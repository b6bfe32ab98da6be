import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { quietLog } from "../support/quiet-log.ts";
import { eventually, type ServiceProcess, startServiceProcess, temporaryFolder } from "../support/service-process.ts";

const PROGRAM = new URL("../support/programs/end-ingest-thread.ts", import.meta.url).href;

const METRICS_TOKEN = "token-of-the-test-metrics";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let service: ServiceProcess;

before(async () => {
  folder = await temporaryFolder();
  service = await startServiceProcess({
    dataDir: folder.path,
    env: {
      NODE_OPTIONS: `--import ${PROGRAM}`,
      PARALLAX_SANDBOX_SPEED: "600",
      PARALLAX_SANDBOX_MARKETS: "100",
      PARALLAX_METRICS_TOKEN: METRICS_TOKEN,
    },
  });
});
after(async () => {
  await service.end("SIGKILL");
  await folder.release();
});

/** Opens the store of the service, which must have ended. */
async function readStore<Row extends object>(text: string): Promise<Row[]> {
  const database = await openEmbeddedDatabase({ dataDir: folder.path, log: quietLog });
  try {
    return await database.query<Row>(text);
  } finally {
    await database.close();
  }
}

/** Waits until the current ingest thread has stored ticks. */
async function waitForTicks(): Promise<void> {
  await eventually(async () => {
    const { text } = await service.get("/metrics", { authorization: `Bearer ${METRICS_TOKEN}` });
    return Number(/^parallax_store_ticks_written_total (\d+)/m.exec(text)?.[1]) > 0 ? true : null;
  }, "stored ticks");
}

interface StreamedEvent {
  readonly id: number;
  readonly type: string;
}

/** Collects the events of the stream until `stop`. */
function collectEvents() {
  const events: StreamedEvent[] = [];
  const abort = new AbortController();
  const reading = (async () => {
    const { body } = await fetch(`${service.url}/v1/stream`, {
      headers: { authorization: `Bearer ${service.keys.enterprise}` },
      signal: abort.signal,
    });
    let text = "";
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const messages = text.split("\n\n");
      text = messages.pop() ?? "";
      for (const message of messages) {
        const [, id] = /^id: (\d+)/m.exec(message) ?? [];
        const [, type] = /^event: (\w+)/m.exec(message) ?? [];
        if (id !== undefined && type !== undefined) events.push({ id: Number(id), type });
      }
    }
  })().catch((error: unknown) => {
    if (!abort.signal.aborted) throw error;
  });
  return {
    events,
    async stop() {
      abort.abort();
      await reading;
    },
  };
}

test("while the ingest thread is replaced, requests are answered with the confirmed times; then ticks are stored again, and no event is lost or sent twice", async () => {
  const stream = collectEvents();
  await eventually(() => (stream.events.length >= 3 ? true : null), "events");
  await waitForTicks();
  const readHealth = async () => (await service.get("/v1/health")).json;
  const readMarkets = async () => {
    const { status, json } = await service.get("/v1/markets?limit=100");
    assert.equal(status, 200);
    return json as { market_id: string; updated_at: string }[];
  };

  const marketsBefore = await readMarkets();
  const endedAt = Date.now();
  process.kill(service.pid, "SIGUSR2");
  const failing = await eventually(async () => {
    const health = await readHealth();
    return health.checks.ingest.restarts === 1 ? health : null;
  }, "the end of the thread");
  if (failing.checks.ingest.status !== "ok") assert.equal(failing.status, "degraded");
  let requests = 0;
  await eventually(async () => {
    const markets = await readMarkets();
    requests += 1;
    assert.ok(markets.length >= marketsBefore.length * 0.9);
    // A market keeps the time of its last confirmation until the new thread has read it.
    for (const { updated_at: at } of markets) assert.ok(Date.parse(at) <= Date.now() + 1_000, at);
    const health = await readHealth();
    const successes = Object.values<{ last_success_at: string | null }>(health.checks.venues);
    const hasRead = successes.some(({ last_success_at: at }) => at !== null && Date.parse(at) > endedAt);
    return health.checks.ingest.status === "ok" && hasRead ? true : null;
  }, "the new thread");
  assert.ok(requests > 0);
  await eventually(async () => ((await readHealth()).status === "ok" ? true : null), "health");
  await waitForTicks();
  const count = stream.events.length;
  await eventually(() => (stream.events.length > count ? true : null), "events of the new thread");
  await stream.stop();
  await service.end();

  const ids = stream.events.map(({ id }) => id);
  const [first = 0, last = 0] = [ids[0], ids.at(-1)];
  const logged = await readStore<{ id: number }>(
    `select id from event_log where id between ${first} and ${last} order by id`,
  );
  assert.deepEqual(
    ids,
    logged.map(({ id }) => id),
  );
  const [{ before: ticksBefore, after: ticksAfter } = { before: 0, after: 0 }] = await readStore<{
    before: number;
    after: number;
  }>(
    `select count(*) filter (where received_at < to_timestamp(${endedAt / 1_000})) as before,
       count(*) filter (where received_at > to_timestamp(${endedAt / 1_000})) as after from ticks`,
  );
  assert.ok(ticksBefore > 0 && ticksAfter > 0);
});
