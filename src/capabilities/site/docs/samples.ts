import type { ExampleRequest, Operation, Site } from "./model.ts";

/** Languages of the samples, in display order. */
export const SAMPLE_LANGUAGES = [
  { id: "curl", name: "curl", codeLanguage: "sh" },
  { id: "typescript", name: "TypeScript", codeLanguage: "ts" },
  { id: "python", name: "Python", codeLanguage: "python" },
] as const;

export type Language = (typeof SAMPLE_LANGUAGES)[number]["id"];

/** Returns the program that calls an operation. It runs as it is: curl, Node 24 and Python 3 need no package. */
export function writeSample(language: Language, operation: Operation, request: ExampleRequest, site: Site): string {
  const url = `${site.origin}${buildTarget(operation, request)}`;
  return SAMPLE_WRITERS[language]({ operation, request, url, key: site.key });
}

/** Returns the path and query of a request. Path values are percent-encoded. */
export function buildTarget({ path }: Operation, request: ExampleRequest): string {
  const filled = path.replace(/\{(\w+)\}/g, (_match, name) => encodeURIComponent(request.path[name] ?? name));
  const query = Object.entries(request.query)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join("&");
  return query === "" ? filled : `${filled}?${query}`;
}

interface SampleContext {
  readonly operation: Operation;
  readonly request: ExampleRequest;
  readonly url: string;
  readonly key: string;
}

const SAMPLE_WRITERS: Readonly<Record<Language, (context: SampleContext) => string>> = {
  curl: writeCurl,
  typescript: writeTypeScript,
  python: writePython,
};

function writeCurl({ operation, request, url, key }: SampleContext): string {
  return [
    `curl${isStream(operation) ? " -N" : ""}${operation.method === "GET" ? "" : ` -X ${operation.method}`} ${quoteShell(url)}`,
    ...(operation.needsKey ? [`-H ${quoteShell(`Authorization: Bearer ${key}`)}`] : []),
    ...(operation.body === null
      ? []
      : [`-H ${quoteShell("Content-Type: application/json")}`, `-d ${quoteShell(JSON.stringify(request.body))}`]),
  ].join(" \\\n  ");
}

function writeTypeScript({ operation, request, url, key }: SampleContext): string {
  const headers = [
    ...(operation.needsKey ? [`Authorization: ${JSON.stringify(`Bearer ${key}`)}`] : []),
    ...(operation.body === null ? [] : [`"Content-Type": "application/json"`]),
  ];
  const options = [
    ...(operation.method === "GET" ? [] : [`method: ${JSON.stringify(operation.method)}`]),
    ...(headers.length === 0 ? [] : [`headers: { ${headers.join(", ")} }`]),
    ...(operation.body === null ? [] : [`body: JSON.stringify(${JSON.stringify(request.body)})`]),
  ];
  const call =
    options.length === 0
      ? `fetch(${JSON.stringify(url)})`
      : `fetch(${JSON.stringify(url)}, {\n${options.map((option) => `  ${option},\n`).join("")}})`;
  if (isStream(operation))
    return [
      `const response = await ${call};`,
      "if (!response.ok || response.body === null) throw new Error(String(response.status));",
      "const decoder = new TextDecoder();",
      "for await (const chunk of response.body) console.log(decoder.decode(chunk, { stream: true }));",
    ].join("\n");
  return [
    `const response = await ${call};`,
    `const body = await response.${isJson(operation) ? "json" : "text"}();`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the sample contains a template literal
    "if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);",
    "console.log(body);",
  ].join("\n");
}

function writePython({ operation, request, url, key }: SampleContext): string {
  const headers = [
    ...(operation.needsKey ? [`"Authorization": ${JSON.stringify(`Bearer ${key}`)}`] : []),
    ...(operation.body === null ? [] : [`"Content-Type": "application/json"`]),
  ];
  const options = [
    JSON.stringify(url),
    ...(operation.method === "GET" ? [] : [`method=${JSON.stringify(operation.method)}`]),
    ...(headers.length === 0 ? [] : [`headers={${headers.join(", ")}}`]),
    ...(operation.body === null ? [] : [`data=json.dumps(${toPython(request.body)}).encode()`]),
  ];
  return [
    ...(isJson(operation) || operation.body !== null ? ["import json"] : []),
    "import urllib.request",
    "",
    options.length === 1
      ? `request = urllib.request.Request(${options[0]})`
      : `request = urllib.request.Request(\n${options.map((option) => `    ${option},\n`).join("")})`,
    "with urllib.request.urlopen(request) as response:",
    ...(isStream(operation)
      ? ["    for line in response:", '        print(line.decode(), end="")']
      : [isJson(operation) ? "    print(json.load(response))" : "    print(response.read().decode())"]),
  ].join("\n");
}

/** Whether the response has no end, so that a program must read it as it arrives. */
const isStream = ({ success }: Operation): boolean => success.contentType === "text/event-stream";

const isJson = ({ success }: Operation): boolean => success.contentType === "application/json";

/** Quotes text for a POSIX shell. */
const quoteShell = (text: string): string =>
  /^[\w:/.,=?&%@-]+$/.test(text) ? `"${text}"` : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Returns a JSON value as a Python expression. */
function toPython(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(toPython).join(", ")}]`;
  if (typeof value === "object")
    return `{${Object.entries(value)
      .map(([name, entry]) => `${JSON.stringify(name)}: ${toPython(entry)}`)
      .join(", ")}}`;
  return JSON.stringify(value);
}
