/**
 * Returns the JSON object of an answer that fits the schema; null if there is none. Models often put text or a code
 * fence around the object.
 */
export function parseAnswer<Value>(check: { Check(value: unknown): value is Value }, answer: string): Value | null {
  const start = answer.indexOf("{");
  const end = answer.lastIndexOf("}");
  if (start < 0 || end < start) return null;
  try {
    const value: unknown = JSON.parse(answer.slice(start, end + 1));
    return check.Check(value) ? value : null;
  } catch {
    return null;
  }
}
