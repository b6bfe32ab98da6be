import { PLANS, TIER_PRICES_USD, TIERS } from "../../../domain/plan.ts";
import { listPlanRows } from "../plan-table.ts";
import { ERROR_DESCRIPTIONS } from "./error-descriptions.ts";
import type { ApiDescription, DocumentedCode, Operation } from "./model.ts";

/** Formats an amount of US dollars: $0.01, $2. */
const formatUsd = (dollars: number): string => `$${Number.isInteger(dollars) ? dollars : dollars.toFixed(2)}`;

/** Writes the price and the limits of each plan as a Markdown table. */
export const writePlansTable = (): string => writeTable(["Limit", ...PLANS], listPlanRows());

/**
 * Writes a table of the tiers with their operations and the price per request, and any different price of an operation.
 */
export function writeTiersTable(operations: readonly Operation[]): string {
  const rows = TIERS.map((tier) => {
    const links = operations
      .filter(({ quotaTier }) => quotaTier === tier)
      .map((operation) => {
        const note = operation.priceTier === tier ? "" : ` (${formatRequestPrice(operation)})`;
        return `[${operation.summary}](/docs/api/${operation.slug})${note}`;
      });
    return [tier, formatUsd(TIER_PRICES_USD[tier]), links.join(", ")];
  });
  return writeTable(["Tier", "Price per request", "Endpoints of the quota"], rows);
}

/** Returns the price of a single request of a caller without an account. */
export const formatRequestPrice = ({ priceTier }: Pick<Operation, "priceTier">): string =>
  priceTier === null ? "not sold per request" : formatUsd(TIER_PRICES_USD[priceTier]);

/** Returns a Markdown table of all error codes with their status, their meaning and what the caller should do. */
export function writeErrorTable(statusOf: (code: DocumentedCode) => number): string {
  const rows = Object.entries(ERROR_DESCRIPTIONS).map(([code, { meaning, action }]) => [
    `\`${code}\``,
    String(statusOf(code as DocumentedCode)),
    meaning,
    action,
  ]);
  return writeTable(["Code", "Status", "Meaning", "What to do"], rows);
}

/** Writes the operations of each tag as lists of links. */
export const writeOperationList = ({ tags, operations }: ApiDescription): string =>
  tags
    .map((tag) => {
      const links = operations
        .filter((operation) => operation.tag === tag)
        .map(({ method, path, summary, slug }) => `- [${summary}](/docs/api/${slug}) \`${method} ${path}\``);
      return `### ${tag}\n\n${links.join("\n")}`;
    })
    .join("\n\n");

function writeTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n");
}
