import { ACCOUNT_READS_PER_MINUTE } from "../../../domain/metering.ts";
import { PLAN_ALLOWANCES, PLANS } from "../../../domain/plan.ts";
import { createErrorBody, ERROR_DESCRIPTIONS } from "./error-descriptions.ts";
import { formatRequestPrice } from "./formats.ts";
import type { ApiDescription, DocumentedCode, Example, Operation, Parameter, Site } from "./model.ts";
import { SAMPLE_LANGUAGES, writeSample } from "./samples.ts";
import { type Field, listConstraints, listFields, listValues, nameType } from "./schema-fields.ts";

/** Writes the page of an operation. The HTML page is rendered from this text, so both have the same content. */
export function writeOperation(operation: Operation, example: Example | null, api: ApiDescription, site: Site): string {
  const { summary, description, method, path, body, success } = operation;
  return joinBlocks([
    `# ${summary}`,
    `\`${method} ${path}\``,
    operation.isDeprecated ? "**Deprecated.** The response headers `Deprecation` and `Sunset` contain the dates." : "",
    description,
    writeAccess(operation),
    "## Request",
    example === null ? "" : writeSamples(operation, example, site),
    ...writeParameters(operation, api),
    ...(body === null ? [] : ["## Body", writeFields(listFields(body.schema, api.resolve), { isInput: true })]),
    "## Response",
    writeResponseType(operation, api),
    ...(example === null ? [] : [writeExampleResponse(operation, example.response)]),
    writeFields(listFields(success.schema, api.resolve)),
    ...(success.headers.length === 0
      ? []
      : [
          "### Headers",
          success.headers.map(({ name, description: text }) => `- \`${name}\` ${text}`.trimEnd()).join("\n"),
        ]),
    ...writeErrors(operation),
  ]);
}

/** Writes the samples of an operation as code blocks that follow each other. */
export const writeSamples = (operation: Operation, { request }: Example, site: Site): string =>
  SAMPLE_LANGUAGES.map(({ id, codeLanguage }) => fence(codeLanguage, writeSample(id, operation, request, site))).join(
    "\n\n",
  );

const writeJson = (value: unknown): string => fence("json", JSON.stringify(value, null, 2));

const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;

const joinBlocks = (blocks: readonly string[]): string => `${blocks.filter((block) => block !== "").join("\n\n")}\n`;

/** Writes a table with the access, plan, quota, price and limit of an operation. */
function writeAccess(operation: Operation): string {
  const { needsKey, minimumPlan, quotaTier } = operation;
  const access = needsKey ? "API key" : "no key";
  const plans = `${minimumPlan}${minimumPlan === PLANS.at(-1) ? "" : " and above"}`;
  return [
    "| Access | Plan | Monthly quota | Pay per request | Requests per minute |",
    "|---|---|---|---|---|",
    `| ${access} | ${needsKey ? plans : "any"} | ${quotaTier ?? "not counted"} | ${formatRequestPrice(operation)} | ${describeMinuteLimit(operation)} |`,
  ].join("\n");
}

function describeMinuteLimit({ rateClass, errors }: Operation): string {
  if (rateClass === "account") return String(ACCOUNT_READS_PER_MINUTE);
  if (rateClass === null)
    return errors.some(({ codes }) => codes.includes("rate_limited")) ? "per network address" : "not limited";
  return PLANS.filter((plan) => PLAN_ALLOWANCES[plan].rateLimits[rateClass] > 0 && plan !== "enterprise")
    .map((plan) => `${PLAN_ALLOWANCES[plan].rateLimits[rateClass]} (${plan})`)
    .join(", ");
}

const PLACES = [
  { in: "path", title: "Path parameters" },
  { in: "query", title: "Query parameters" },
  { in: "header", title: "Request headers" },
] as const;

function writeParameters({ parameters }: Operation, { resolve }: ApiDescription): readonly string[] {
  return PLACES.flatMap((place) => {
    const group = parameters.filter((parameter) => parameter.in === place.in);
    if (group.length === 0) return [];
    const toField = ({ name, isRequired, description, schema }: Parameter): Field => ({
      name,
      type: nameType(schema, resolve),
      isRequired,
      description,
      constraints: listConstraints(schema),
      values: listValues(schema),
      fields: [],
    });
    return [`## ${place.title}`, writeFields(group.map(toField), { isInput: true })];
  });
}

/**
 * Writes fields as a list; nested fields are a nested list.
 *
 * @param options.isInput  whether callers send the fields: then each is "required" or "optional"
 */
function writeFields(fields: readonly Field[], { isInput = false, indent = "" } = {}): string {
  return fields
    .map((field) => {
      const { name, type, isRequired, constraints, values, description } = field;
      const presence = isRequired ? (isInput ? ["required"] : []) : ["optional"];
      const sentences = [asSentence(description), values.length === 0 ? "" : `One of ${listCodes(values)}.`];
      const properties = [type, ...constraints, ...presence].join(", ");
      const line = `${indent}- \`${name}\` *${properties}* ${sentences.filter(Boolean).join(" ")}`.trimEnd();
      if (field.fields.length === 0) return line;
      return `${line}\n\n${writeFields(field.fields, { isInput, indent: `${indent}  ` })}\n`;
    })
    .join("\n");
}

const listCodes = (values: readonly string[]): string => values.map((value) => `\`${value}\``).join(", ");

const asSentence = (text: string): string => (text === "" || /[.!?]$/.test(text) ? text : `${text}.`);

function writeResponseType({ success }: Operation, { resolve }: ApiDescription): string {
  const { status, contentType, schema } = success;
  const type = nameType(schema, resolve);
  const content = contentType === "application/json" ? `JSON, \`${type}\`` : `\`${contentType}\``;
  return `Status ${status}: ${content}.`;
}

const writeExampleResponse = ({ success }: Operation, response: unknown): string =>
  typeof response === "string" ? fence(success.contentType.split("/").at(-1) ?? "", response) : writeJson(response);

function writeErrors({ errors }: Operation): readonly string[] {
  const entries = errors.flatMap(({ status, codes }) => codes.map((code) => writeError(status, code)));
  return [
    "## Errors",
    "The body of an error has a `detail` for people and a stable `code` for programs. [All error codes](/docs/errors).",
    entries.join("\n"),
  ];
}

function writeError(status: number, code: DocumentedCode): string {
  const { meaning, action } = ERROR_DESCRIPTIONS[code];
  const example = writeJson(createErrorBody(code)).replaceAll("\n", "\n  ");
  return `- \`${status} ${code}\` ${meaning} ${action}\n\n  ${example}\n`;
}
