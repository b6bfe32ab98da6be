/** `npm run fit`: fits the coefficients of the engine and writes them with a report. */
import { ENGINE_COEFFICIENTS, type EngineCoefficients } from "../../src/engine/index.ts";
import { isObject } from "../../src/lib/is-object.ts";
import { runCommand, stringOption, writeProjectFile } from "../run-command.ts";
import { type EngineData, fitEngine } from "./fit/fit-engine.ts";
import { describeEngineFit } from "./fit/fit-report.ts";
import { type EngineFile, readEngineFile } from "./rows.ts";
import { summariseEvaluation } from "./summary.ts";

const USAGE = `Usage: npm run fit -- [--resolved FILE] [--quotes FILE] [--depth FILE]

Fits the weights of the probability engine and writes src/engine/coefficients.json and docs/reports/engine.md. The output has one
JSON object per file with its scores out of fold: quotes, order books and, on the last line, resolved questions.
  --resolved  resolved questions (default ../shared/data/resolved-dev.jsonl.gz)
  --quotes    best prices of the same contract at several venues (default ../shared/data/tape-xvenue-quotes.jsonl.gz)
  --depth     order books (default ../shared/data/tape-kalshi-depth.jsonl.gz)
`;
const DECIMALS = 4;

await runCommand(
  {
    usage: USAGE,
    options: {
      resolved: stringOption("../shared/data/resolved-dev.jsonl.gz"),
      quotes: stringOption("../shared/data/tape-xvenue-quotes.jsonl.gz"),
      depth: stringOption("../shared/data/tape-kalshi-depth.jsonl.gz"),
    },
  },
  async ({ resolved, quotes, depth }) =>
    fit({
      resolved: await read(resolved, "resolved"),
      quotes: await read(quotes, "quotes"),
      depth: await read(depth, "depth"),
    }),
);

async function fit(data: EngineData): Promise<void> {
  const result = fitEngine(data, ENGINE_COEFFICIENTS);
  const coefficients = roundNumbers(result.coefficients) as EngineCoefficients;
  await writeProjectFile("src/engine/coefficients.json", toJson(coefficients));
  await writeProjectFile("docs/reports/engine.md", describeEngineFit({ ...result, coefficients }, data));
  const { quotes, depth, resolved } = result.outOfFold;
  for (const evaluation of [quotes, depth, resolved])
    process.stdout.write(`${JSON.stringify(summariseEvaluation(evaluation))}\n`);
}

async function read<Kind extends EngineFile["kind"]>(
  path: string,
  kind: Kind,
): Promise<Extract<EngineFile, { kind: Kind }>> {
  const file = await readEngineFile(path);
  if (file.kind !== kind) throw new Error(`${path}: expected ${kind} rows, found ${file.kind} rows`);
  return file as Extract<EngineFile, { kind: Kind }>;
}

/** Formats JSON like the formatter of this repository, with arrays on one line. */
function toJson(value: object): string {
  const lists = /\[\s+([^[\]{}]*?)\s+\]/g;
  return `${JSON.stringify(value, null, 2).replace(lists, (_, items: string) => `[${items.replace(/\s+/g, " ")}]`)}\n`;
}

function roundNumbers(value: unknown): unknown {
  if (typeof value === "number") return Number(value.toFixed(DECIMALS));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, roundNumbers(item)]));
}
