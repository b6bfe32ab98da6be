/** `npm run evaluate -- FILE`: scores the shipped engine on resolved questions or recorded prices. It fits nothing. */
import { writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { ENGINE_COEFFICIENTS } from "../../src/engine/index.ts";
import { table } from "../markdown.ts";
import { type Evaluation, evaluateFile, scorerOf } from "./evaluation.ts";
import { renderHtml } from "./report-html.ts";
import { describeEvaluation } from "./report-text.ts";
import { type EngineFile, readEngineFile } from "./rows.ts";
import { readStore } from "./store-rows.ts";
import { summarise } from "./summary.ts";

const USAGE = `Usage: npm run evaluate -- FILE [--html FILE] [--json FILE]
       npm run evaluate -- --store URL_OR_FOLDER [--html FILE] [--json FILE]

Scores the engine with its shipped coefficients on resolved questions, recorded quotes of several venues, or recorded order
books: one JSON object per line, gzipped or not. Nothing is fitted to the file. The last line of the output is one JSON object
with the scores.
  --store  scores the resolved markets of the service's own store instead of a file: a PostgreSQL URL, or the data directory
           of a service that is not running
  --html   writes a report as one self-contained HTML page
  --json   writes all scores as JSON
`;

interface Reports {
  readonly html?: string | undefined;
  readonly json?: string | undefined;
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      store: { type: "string" },
      html: { type: "string" },
      json: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const [path, ...others] = positionals;
  if (values.help) process.stdout.write(USAGE);
  else if (values.store !== undefined && path === undefined)
    await evaluate({ kind: "resolved", rows: await readStore(values.store) }, "the store", values);
  else if (values.store !== undefined || path === undefined || others.length > 0)
    throw new Error(`expected one file or a store\n\n${USAGE}`);
  else await evaluate(await readEngineFile(path), basename(path), values);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function evaluate(file: EngineFile, source: string, { html, json }: Reports): Promise<void> {
  const evaluation = evaluateFile(file, scorerOf(ENGINE_COEFFICIENTS));
  if (html !== undefined) await writeFile(html, renderHtml(evaluation, source));
  if (json !== undefined) await writeFile(json, `${JSON.stringify(toJson(evaluation), null, 2)}\n`);
  const sections = describeEvaluation(evaluation).map(({ title, text, header, rows }) =>
    [`## ${title}`, ...text, table(header, rows)].join("\n\n"),
  );
  const body = evaluation.rows === 0 ? "There are no rows, so there is nothing to score." : sections.join("\n\n");
  process.stdout.write(`${body}\n\n${JSON.stringify(summarise(evaluation))}\n`);
}

function toJson(evaluation: Evaluation): object {
  const { model, parts } = evaluation.later;
  return { ...evaluation, later: { model, parts: Object.fromEntries(parts) } };
}
