import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { endProcess } from "../harness/child-process.ts";
import { type LoadTarget, sendAtFixedRate } from "../harness/load.ts";
import { hasTestDatabase, reserveSchema } from "../harness/own-database.ts";
import { interleave } from "../harness/rounds.ts";
import { type BenchOptions, type BenchRow, createBenchRow, type Scenario } from "../harness/scenario.ts";

const PROGRAM_FILE = fileURLToPath(new URL("../programs/store-service.ts", import.meta.url));
const ROUNDS = 7;
const ROUND_SECONDS = 3;
/** Authenticated API requests per second during the write; all must succeed. */
const API_REQUESTS_PER_SECOND = 500;
const TARGET_ROWS_PER_SECOND = { embeddedBusy: 20_000, postgresAlone: 60_000, postgresBusy: 30_000 };

export const storeScenario: Scenario = {
  name: "store",
  describe:
    "Tick rows/s through the production writer, with and without API load, embedded and on PostgreSQL,\ncompared with the bare driver.",
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
    const target = reserveSchema("store");
    const keysFolder = await temporaryFolder();
    try {
      rows.push(...(await measure("postgres", [keysFolder.path, target.schema], options)));
    } finally {
      await target.drop();
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
  const child = spawn(process.execPath, [PROGRAM_FILE, kind, ...storeArguments], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const readLine = async () => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error("the child process exited");
      return JSON.parse(value);
    };
    const { url, key } = await readLine();
    const target: LoadTarget = { url: `${url}/v1/markets`, headers: { authorization: `Bearer ${key}` } };
    const seconds = options.quick ? 1 : ROUND_SECONDS;
    const write = async (writer: "ours" | "bare"): Promise<number> => {
      child.stdin.write(`${JSON.stringify({ writer, durationMs: seconds * 1_000 })}\n`);
      return (await readLine()).perSecond;
    };
    const latencies: number[] = [];
    const writeDuringLoad = async (): Promise<number> => {
      const [rowsPerSecond, load] = await Promise.all([
        write("ours"),
        sendAtFixedRate(target, { perSecond: API_REQUESTS_PER_SECOND, seconds, connections: 16 }),
      ]);
      if (load.failed > 0) throw new Error(`${load.failed} of ${load.sent} requests failed`);
      latencies.push(load.p99Ms);
      return rowsPerSecond;
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
    const baseline = { name: kind === "embedded" ? "bare PGlite" : "bare pg with UNNEST", samples: samples.bare };
    const atLeast = (value: number) => ({ of: "median", bound: "at_least", value }) as const;
    return [
      createBenchRow({
        figure: `${kind}, alone`,
        unit: "rows/s",
        samples: samples.alone,
        baseline,
        target: kind === "postgres" ? atLeast(TARGET_ROWS_PER_SECOND.postgresAlone) : undefined,
      }),
      createBenchRow({
        figure: `${kind}, with API load`,
        unit: "rows/s",
        samples: samples.busy,
        baseline,
        target: atLeast(
          kind === "embedded" ? TARGET_ROWS_PER_SECOND.embeddedBusy : TARGET_ROWS_PER_SECOND.postgresBusy,
        ),
        note: `all ${API_REQUESTS_PER_SECOND} authenticated requests per second succeeded`,
      }),
      createBenchRow({ figure: `${kind}, p99 of the API requests`, unit: "ms", samples: latencies }),
    ];
  } finally {
    child.stdin.end();
    await endProcess(child);
  }
}
