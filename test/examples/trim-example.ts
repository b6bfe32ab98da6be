const ENTRIES_MAX = 2;
const TEXT_LENGTH_MAX = 160;

/** Shortens lists and texts of a response, and replaces its keys, so that the reference can show it. */
export function trimExample(operationId: string, example: unknown): unknown {
  const trimmed = trim(example) as { readonly request: unknown; readonly response: unknown };
  return operationId === "get_openapi" ? { ...trimmed, response: trimDescription(trimmed.response) } : trimmed;
}

function trim(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, ENTRIES_MAX).map(trim);
  if (typeof value === "string") return trimText(value);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, trim(entry)]));
}

function trimText(text: string): string {
  if (/^plx_[a-z]+_/.test(text))
    return text.length < 30 ? text : text.replace(/[a-z2-7]+$/, "example".repeat(5).slice(0, 33));
  if (text.startsWith("<!doctype html>")) return `${text.split("\n").slice(0, 3).join("\n")}\n…`;
  return text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX).trimEnd()}…` : text;
}

/** Keeps the name and one path of the OpenAPI document. */
function trimDescription(document: unknown): unknown {
  const { openapi, info, paths } = document as Record<string, Record<string, Record<string, unknown>>>;
  return { openapi, info, paths: { "/livez": paths?.["/livez"] } };
}
