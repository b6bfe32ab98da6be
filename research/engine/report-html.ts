/** Renders scores as one self-contained HTML page. */
import { escapeHtml } from "../../src/lib/escape-html.ts";
import { formatNumber, type ReportSection } from "../report.ts";
import type { Evaluation } from "./evaluation.ts";
import { describeEvaluation } from "./report-text.ts";
import type { BrierDecomposition } from "./scores.ts";

const SIZE = 360;
const MARGIN = 40;
const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #1c2430; }
table { border-collapse: collapse; margin: 0.5rem 0 1.5rem; font-variant-numeric: tabular-nums; }
th, td { white-space: nowrap; padding: 0.2rem 0.7rem; border-bottom: 1px solid #d8dee6; text-align: right; }
th:first-child, td:first-child { text-align: left; }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; } figcaption { color: #55606e; }
.wide { overflow-x: auto; }
`;

/** @param source  name of the scored file */
export function renderEvaluationHtml(evaluation: Evaluation, source: string): string {
  const { model, market } = evaluation.decomposition;
  const diagram = model === null || market === null ? "" : reliabilityDiagram(model, market);
  return renderPage({
    title: "Evaluation of the probability engine",
    introduction: `<p>${escapeHtml(source)}: ${evaluation.rows} rows. The engine that the service runs, with its shipped coefficients, scored every row as
of its time. This command fits nothing. On the file that the coefficients were fitted to, use the scores of <code>npm run fit</code>.</p>
${evaluation.rows === 0 ? "<p>The file has no rows.</p>" : ""}${diagram}`,
    sections: describeEvaluation(evaluation),
  });
}

/**
 * Renders a report as one self-contained page.
 *
 * @param page  `introduction` is HTML; all other text is escaped
 */
export function renderPage(page: {
  readonly title: string;
  readonly introduction: string;
  readonly sections: readonly ReportSection[];
}): string {
  const title = escapeHtml(page.title);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${STYLE}</style></head>
<body>
<h1>${title}</h1>
${page.introduction}
${page.sections.map(renderSection).join("\n")}
</body></html>
`;
}

function renderSection({ title, text, header, rows }: ReportSection): string {
  const cells = (tag: "th" | "td", values: ReportSection["rows"][number]) =>
    values.map((value) => `<${tag}>${escapeHtml(String(value))}</${tag}>`).join("");
  const heading = `<h2>${escapeHtml(title)}</h2>${text.map((line) => `<p>${escapeHtml(line)}</p>`).join("")}`;
  if (header.length === 0) return heading;
  return `${heading}
<div class="wide"><table><thead><tr>${cells("th", header)}</tr></thead>
<tbody>${rows.map((row) => `<tr>${cells("td", row)}</tr>`).join("\n")}</tbody></table></div>`;
}

/** Plots the share of YES outcomes against the mean probability in ten bins. Circle sizes show the number of rows. */
function reliabilityDiagram(model: BrierDecomposition, market: BrierDecomposition): string {
  const x = (probability: number) => MARGIN + probability * (SIZE - 2 * MARGIN);
  const y = (share: number) => SIZE - x(share);
  const most = Math.max(...[...model.bins, ...market.bins].map(({ n }) => n));
  const points = ({ bins }: BrierDecomposition, colour: string) =>
    bins
      .map(({ n, meanProbability, yesShare }) => {
        const radius = 2 + 8 * Math.sqrt(n / most);
        const title = `${n} rows, mean probability ${formatNumber(meanProbability, 3)}, share of YES ${formatNumber(yesShare, 3)}`;
        return `<circle cx="${formatNumber(x(meanProbability), 1)}" cy="${formatNumber(y(yesShare), 1)}" r="${formatNumber(radius, 1)}" fill="${colour}" fill-opacity="0.35" stroke="${colour}"><title>${title}</title></circle>`;
      })
      .join("");
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (value) =>
      `<text x="${x(value)}" y="${SIZE - MARGIN + 18}" text-anchor="middle">${value}</text><text x="${MARGIN - 8}" y="${y(value) + 4}" text-anchor="end">${value}</text>`,
  );
  return `<figure><svg viewBox="0 0 ${SIZE} ${SIZE}" width="${SIZE}" height="${SIZE}" role="img" aria-label="Reliability diagram" font-size="11" font-family="system-ui, sans-serif">
<rect x="${MARGIN}" y="${MARGIN}" width="${SIZE - 2 * MARGIN}" height="${SIZE - 2 * MARGIN}" fill="none" stroke="#b8c1cc"/>
<line x1="${x(0)}" y1="${y(0)}" x2="${x(1)}" y2="${y(1)}" stroke="#b8c1cc" stroke-dasharray="4 4"/>
${ticks.join("")}
<text x="${SIZE / 2}" y="${SIZE - 6}" text-anchor="middle">mean probability</text>
<text x="12" y="${SIZE / 2}" text-anchor="middle" transform="rotate(-90 12 ${SIZE / 2})">share of YES</text>
${points(market, "#8a94a3")}${points(model, "#1f5fbf")}
</svg><figcaption>Blue: model. Grey: price. On the dashed line, probabilities are right on average.</figcaption></figure>`;
}
