import { PLAN_ALLOWANCES, PLAN_PRICES_USD_MONTH, PLANS, type Plan, TIER_PRICES_USD, TIERS } from "../../domain/plan.ts";
import { ERROR_DESCRIPTIONS } from "./error-descriptions.ts";
import type { ApiDescription, DocumentedCode, Operation } from "./model.ts";

/** Shown instead of the limits of a plan without a list price. */
const NEGOTIATED = "by agreement";

/** Formats an amount of US dollars: $0.01, $2. */
export const formatUsd = (dollars: number): string => `$${Number.isInteger(dollars) ? dollars : dollars.toFixed(2)}`;

const formatInteger = (value: number): string => value.toLocaleString("en-US");

/** Writes the price and the limits of each plan as a Markdown table. */
export function writePlansTable(): string {
  const row = (name: string, cell: (plan: Plan) => string) => [name, ...PLANS.map(cell)];
  const limit = (plan: Plan, value: number) => {
    if (PLAN_PRICES_USD_MONTH[plan] === null) return NEGOTIATED;
    return value === 0 ? "not included" : formatInteger(value);
  };
  return writeTable(
    ["Limit", ...PLANS],
    [
      row("Price per month", (plan) => formatPlanPrice(plan)),
      row("Requests per minute", (plan) => limit(plan, PLAN_ALLOWANCES[plan].rateLimits.general)),
      row("Strategy requests per minute", (plan) => limit(plan, PLAN_ALLOWANCES[plan].rateLimits.strategy)),
      ...TIERS.map((tier) => row(`${tier} calls per month`, (plan) => limit(plan, PLAN_ALLOWANCES[plan].quotas[tier]))),
    ],
  );
}

function formatPlanPrice(plan: Plan): string {
  const dollars = PLAN_PRICES_USD_MONTH[plan];
  return dollars === null ? NEGOTIATED : formatUsd(dollars);
}

/** Writes the price and the operations of each tier that has operations. */
export function writeTiersTable(operations: readonly Operation[]): string {
  const rows = TIERS.map((tier) => {
    const counted = operations.filter(({ quotaTier }) => quotaTier === tier);
    const links = counted.map(({ summary, slug }) => `[${summary}](/docs/api/${slug})`);
    return [tier, formatUsd(TIER_PRICES_USD[tier]), links.length === 0 ? "no endpoints yet" : links.join(", ")];
  });
  return writeTable(["Tier", "Price per request", "Endpoints"], rows);
}

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
