import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { type LoadTarget, sendAtFixedRate } from "../harness/load.ts";
import { hasTestDatabase, ownSchema } from "../harness/own-database.ts";
import { interleave } from "../harness/rounds.ts";
import { type BenchOptions, type BenchRow, benchRow, type Scenario } from "../harness/scenario.ts";

const PROGRAM = fileURLToPath(new URL("../programs/store-service.ts", import.meta.url));
const ROUNDS = 7;
const ROUND_SECONDS = 3;
/** Authenticated reads per second during the write; all must succeed. */
const API_PER_SECOND = 500;
const TARGETS = { embeddedBusy: 20_000, postgresAlone: 60_000, postgresBusy: 30_000 };

export const storeScenario: Scenario = {
  name: "store",
  describe:
    "Tick rows/s through the production writer, with API load and alone, embedded and on PostgreSQL,\nagainst the bare driver.",
  async run(options) {
    const rows: BenchRow[] = [];
    const folder = await temporaryFolder();
    try {
      rows.push(...(await measure("embedded", [folder.path, ""], options)));
    } finally {
      await folder.release();
    }
    if (!hasTestDatabase()) {
      options.print("PostgreSQL is skipped: TEST_DATABASE_URL is not set");
      return rows;
    }
    const own = ownSchema("store");
    const keysFolder = await temporaryFolder();
    try {
      rows.push(...(await measure("postgres", [keysFolder.path, own.schema], options)));
    } finally {
      await own.drop();
      await keysFolder.release();
    }
    return rows;
  },
};

async function measure(
  kind: "embedded" | "postgres",
  storeArguments: readonly [string, string],
  options: BenchOptions,
): Promise<BenchRow[]> {
  const child = spawn(process.execPath, [PROGRAM, kind, ...storeArguments], { stdio: ["pipe", "pipe", "inherit"] });
  const exit = once(child, "exit");
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const read = async () => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error("the child process exited");
      return JSON.parse(value);
    };
    const { url, key } = await read();
    const target: LoadTarget = { url: `${url}/v1/markets`, headers: { authorization: `Bearer ${key}` } };
    const seconds = options.quick ? 1 : ROUND_SECONDS;
    const write = async (writer: "ours" | "bare"): Promise<number> => {
      child.stdin.write(`${JSON.stringify({ writer, durationMs: seconds * 1_000 })}\n`);
      return (await read()).perSecond;
    };
    const latencies: number[] = [];
    const writeDuringLoad = async (): Promise<number> => {
      const [perSecond, load] = await Promise.all([
        write("ours"),
        sendAtFixedRate(target, { perSecond: API_PER_SECOND, seconds, connections: 16 }),
      ]);
      if (load.failed > 0) throw new Error(`${load.failed} of ${load.sent} requests failed`);
      latencies.push(load.p99Ms);
      return perSecond;
    };
    const rounds = options.rounds ?? (options.quick ? 2 : ROUNDS);
    options.print(`${kind}: ${rounds} rounds of ${seconds} s, for each of three variants`);
    await write("ours");
    await write("bare");
    const samples = await interleave(rounds, {
      alone: () => write("ours"),
      busy: writeDuringLoad,
      bare: () => write("bare"),
    });
    const yardstick = { name: kind === "embedded" ? "bare PGlite" : "bare pg with UNNEST", samples: samples.bare };
    const atLeast = (value: number) => ({ of: "median", bound: "at_least", value }) as const;
    return [
      benchRow({
        figure: `${kind}, alone`,
        unit: "rows/s",
        samples: samples.alone,
        yardstick,
        target: kind === "postgres" ? atLeast(TARGETS.postgresAlone) : undefined,
      }),
      benchRow({
        figure: `${kind}, with API load`,
        unit: "rows/s",
        samples: samples.busy,
        yardstick,
        target: atLeast(kind === "embedded" ? TARGETS.embeddedBusy : TARGETS.postgresBusy),
        note: `all ${API_PER_SECOND} authenticated requests per second succeeded`,
      }),
      benchRow({ figure: `${kind}, p99 of the API requests`, unit: "ms", samples: latencies }),
    ];
  } finally {
    child.stdin.end();
    child.kill();
    await exit;
  }
}
