/** `npm run bench`: runs scenarios and prints each figure with its baseline from the same run. See README.md. */
import { writeFile } from "node:fs/promises";
import { availableParallelism, cpus, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { type BenchOptions, type BenchRow, type Scenario, SkippedError } from "./harness/scenario.ts";
import { formatRows } from "./harness/table.ts";
import { boardScenario } from "./scenarios/board.ts";
import { correlationScenario } from "./scenarios/correlation.ts";
import { diskFullScenario } from "./scenarios/disk-full.ts";
import { historyScenario } from "./scenarios/history.ts";
import { hostileScenario } from "./scenarios/hostile.ts";
import { httpScenario } from "./scenarios/http.ts";
import { killScenario } from "./scenarios/kill.ts";
import { latencyScenario } from "./scenarios/latency.ts";
import { meteringScenario } from "./scenarios/metering.ts";
import { paymentsScenario } from "./scenarios/payments.ts";
import { postgresUnavailableScenario } from "./scenarios/postgres-unavailable.ts";
import { quotaScenario } from "./scenarios/quota.ts";
import { screenScenario } from "./scenarios/screen.ts";
import { smallScenario } from "./scenarios/small.ts";
import { soakScenario } from "./scenarios/soak.ts";
import { startScenario } from "./scenarios/start.ts";
import { storeScenario } from "./scenarios/store.ts";
import { sweepScenario } from "./scenarios/sweep.ts";
import { runScoreboard } from "./scoreboard/main.ts";

const SCENARIOS: readonly Scenario[] = [
  startScenario,
  smallScenario,
  httpScenario,
  meteringScenario,
  latencyScenario,
  hostileScenario,
  storeScenario,
  historyScenario,
  correlationScenario,
  sweepScenario,
  boardScenario,
  screenScenario,
  paymentsScenario,
  killScenario,
  quotaScenario,
  diskFullScenario,
  postgresUnavailableScenario,
  soakScenario,
];

const USAGE = `npm run bench                      run all scenarios
npm run bench -- http store        run only these two scenarios
npm run bench -- scoreboard        measure the scoreboard (scoreboard --help)
npm run bench -- --quick           short runs that check that each scenario works; the figures are not reliable

Options:
  --json FILE    write every figure with its spread
  --rounds N     interleaved rounds of comparisons
  --ticks N      rows of the scenario "history" (full run: 20000000)
  --minutes N    duration of the scenarios "soak" and "small"
  --quick, --help

Scenarios:
${SCENARIOS.map(({ name, describe }) => `  ${name.padEnd(20)} ${describe.replaceAll("\n", `\n${" ".repeat(23)}`)}`).join("\n")}

PostgreSQL is measured if TEST_DATABASE_URL is set. Scenarios create schemas there and drop them.
The exit code is 1 if a scenario failed or a target was missed.
`;

interface Outcome {
  readonly scenario: string;
  readonly seconds: number;
  readonly rows: readonly BenchRow[];
  readonly skipped: string | null;
  readonly failure: string | null;
}

async function runScenario(scenario: Scenario, options: BenchOptions): Promise<Outcome> {
  const startedAt = performance.now();
  const createOutcome = (fields: Partial<Outcome>): Outcome => ({
    scenario: scenario.name,
    seconds: Math.round((performance.now() - startedAt) / 100) / 10,
    rows: [],
    skipped: null,
    failure: null,
    ...fields,
  });
  try {
    return createOutcome({ rows: await scenario.run(options) });
  } catch (error) {
    if (error instanceof SkippedError) return createOutcome({ skipped: error.message });
    return createOutcome({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

function formatOutcome({ scenario, seconds, rows, skipped, failure }: Outcome): string {
  const title = `\n${scenario} (${seconds} s)`;
  if (skipped !== null) return `${title}: skipped, ${skipped}\n`;
  if (failure !== null) return `${title}: FAILED\n${failure}\n`;
  return `${title}\n${formatRows(rows)}\n`;
}

/** Parses a whole number above 0 from the command line. Returns null if the option is absent. */
function parseCount(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new RangeError(`--${name} ${text}: must be a whole number of at least 1`);
  return Number(text);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: "boolean", short: "h" },
      quick: { type: "boolean" },
      json: { type: "string" },
      rounds: { type: "string" },
      ticks: { type: "string" },
      minutes: { type: "string" },
    },
  });
  if (values.help === true) {
    process.stdout.write(USAGE);
    return;
  }
  const unknownNames = positionals.filter((name) => !SCENARIOS.some((scenario) => scenario.name === name));
  if (unknownNames.length > 0) throw new RangeError(`no such scenario: ${unknownNames.join(", ")} (--help lists them)`);
  const options: BenchOptions = {
    quick: values.quick === true,
    rounds: parseCount("rounds", values.rounds),
    ticks: parseCount("ticks", values.ticks),
    minutes: parseCount("minutes", values.minutes),
    print: (line) => process.stderr.write(`  ${line}\n`),
  };
  const outcomes: Outcome[] = [];
  for (const scenario of SCENARIOS) {
    if (positionals.length > 0 && !positionals.includes(scenario.name)) continue;
    process.stderr.write(`${scenario.name} ...\n`);
    const outcome = await runScenario(scenario, options);
    outcomes.push(outcome);
    process.stdout.write(formatOutcome(outcome));
    if (values.json !== undefined) await writeReport(values.json, options, outcomes);
  }
  const isSuccess = outcomes.every(({ failure, rows }) => failure === null && rows.every((row) => row.isMet !== false));
  process.exitCode = isSuccess ? 0 : 1;
}

/** Writes the outcomes so far after each scenario, so that an interrupted run loses at most one outcome. */
async function writeReport(file: string, options: BenchOptions, outcomes: readonly Outcome[]): Promise<void> {
  const machine = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    processor: cpus()[0]?.model ?? null,
    cores: availableParallelism(),
    memory_gib: Math.round(totalmem() / 2 ** 30),
  };
  const report = { measured_at: new Date().toISOString(), machine, quick: options.quick, outcomes };
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`);
}

const [command, ...commandArguments] = process.argv.slice(2);
await (command === "scoreboard" ? runScoreboard(commandArguments) : main()).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
