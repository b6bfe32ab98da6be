/** `npm run evaluate -- FILE`: scores the shipped engine on resolved questions or recorded prices, without fitting. */
import { writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { ENGINE_COEFFICIENTS } from "../../src/engine/index.ts";
import { toMarkdown } from "../report.ts";
import { runCommand } from "../run-command.ts";
import { createEstimator, type Evaluation, evaluateFile } from "./evaluation.ts";
import { renderEvaluationHtml } from "./report-html.ts";
import { describeEvaluation } from "./report-text.ts";
import { readEngineFile } from "./rows.ts";
import { readResolvedRows } from "./store-rows.ts";
import { summariseEvaluation } from "./summary.ts";

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

await runCommand(
  {
    usage: USAGE,
    options: { store: { type: "string" }, html: { type: "string" }, json: { type: "string" } },
    isOfFile: true,
  },
  async ({ store, html, json }, [path, ...others]) => {
    if ((store === undefined) === (path === undefined) || others.length > 0)
      throw new Error(`expected one file or a store\n\n${USAGE}`);
    const [file, source] =
      path === undefined
        ? [{ kind: "resolved", rows: await readResolvedRows(store ?? "") } as const, "the store"]
        : [await readEngineFile(path), basename(path)];
    const evaluation = evaluateFile(file, createEstimator(ENGINE_COEFFICIENTS));
    if (html !== undefined) await writeFile(html, renderEvaluationHtml(evaluation, source));
    if (json !== undefined) await writeFile(json, `${JSON.stringify(toJson(evaluation), null, 2)}\n`);
    const body =
      evaluation.rows === 0
        ? "There are no rows, so there is nothing to score."
        : toMarkdown(describeEvaluation(evaluation), "##");
    process.stdout.write(`${body}\n\n${JSON.stringify(summariseEvaluation(evaluation))}\n`);
  },
);

function toJson(evaluation: Evaluation): object {
  const { model, parts } = evaluation.later;
  return { ...evaluation, later: { model, parts: Object.fromEntries(parts) } };
}
