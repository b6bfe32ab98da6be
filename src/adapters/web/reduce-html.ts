// Reduces untrusted HTML in a single pass before it is parsed. The parser takes quadratic time for deep nesting and
// overflows the stack, so it gets only the elements that an article needs, with limited nesting.

const TAGS_MAX = 20_000;
const ENTITIES_MAX = 20_000;
const DEPTH_MAX = 120;
const TAG_CHARACTERS_MAX = 2_000;
const DROPPED = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "math",
  "iframe",
  "object",
  "select",
  "textarea",
]);
const VOID = new Set([
  "area",
  "base",
  "br",
  "col",
  "embed",
  "hr",
  "img",
  "input",
  "link",
  "meta",
  "source",
  "track",
  "wbr",
]);
/** Elements whose opening tag closes the previous element of the same name, so that missing end tags do not nest. */
const SELF_CLOSING = new Set(["p", "li", "td", "th", "tr", "dt", "dd", "option"]);
const TAG_NAME = /^\/?([a-zA-Z][a-zA-Z0-9-]{0,30})/;

/**
 * Returns the HTML without comments, scripts, styles and other elements that have no text. The result has at most
 * 20,000 tags, nested at most 120 deep, and at most 20,000 entities. A `<` that does not start a tag becomes a space.
 * Takes linear time.
 */
export function reduceHtml(source: string): string {
  let entities = 0;
  const html = source.replace(/&/g, () => (++entities > ENTITIES_MAX ? " " : "&"));
  const parts: string[] = [];
  const open: string[] = [];
  let tags = 0;
  let position = 0;
  while (position < html.length && tags < TAGS_MAX) {
    const start = html.indexOf("<", position);
    if (start < 0) {
      parts.push(html.slice(position));
      break;
    }
    parts.push(html.slice(position, start));
    const name = TAG_NAME.exec(html.slice(start + 1, start + 40))?.[1]?.toLowerCase();
    if (name === undefined) {
      const end = endOfDeclaration(html, start);
      if (end === null) parts.push(" ");
      position = end ?? start + 1;
      continue;
    }
    tags++;
    const end = endOfTag(html, start);
    const isClosing = html[start + 1] === "/";
    position = end;
    if (DROPPED.has(name)) {
      if (!isClosing) position = endOfElement(html, end, name);
    } else if (end - start > TAG_CHARACTERS_MAX) continue;
    else if (isClosing) closeElement(open, name, parts);
    else if (VOID.has(name)) parts.push(html.slice(start, end));
    else if (open.length < DEPTH_MAX || SELF_CLOSING.has(name)) {
      if (SELF_CLOSING.has(name) && open.at(-1) === name) closeElement(open, name, parts);
      if (open.length >= DEPTH_MAX) continue;
      open.push(name);
      parts.push(html.slice(start, end));
    }
  }
  for (const name of open.reverse()) parts.push(`</${name}>`);
  return parts.join("");
}

/** Closes the innermost open element with a name and the elements inside it. Ignores a tag without an open element. */
function closeElement(open: string[], name: string, parts: string[]): void {
  const index = open.lastIndexOf(name);
  if (index < 0) return;
  for (const inner of open.splice(index).reverse()) parts.push(`</${inner}>`);
}

/** Returns the index after a comment, declaration or processing instruction; null if `<` does not start one. */
function endOfDeclaration(html: string, start: number): number | null {
  const next = html[start + 1];
  if (next !== "!" && next !== "?") return null;
  const closer = html.startsWith("<!--", start) ? "-->" : ">";
  const end = html.indexOf(closer, start + 2);
  return end < 0 ? html.length : end + closer.length;
}

/** Returns the index after a tag. A `>` inside a quoted attribute does not end the tag, up to the maximum length. */
function endOfTag(html: string, start: number): number {
  let quote = "";
  const limit = Math.min(html.length, start + TAG_CHARACTERS_MAX);
  for (let index = start + 1; index < limit; index++) {
    const character = html[index] ?? "";
    if (quote === "" && character === ">") return index + 1;
    if (quote === character) quote = "";
    else if (quote === "" && (character === '"' || character === "'")) quote = character;
  }
  const end = html.indexOf(">", start);
  return end < 0 ? html.length : end + 1;
}

/** Returns the index after the end tag of an element whose content is removed. */
function endOfElement(html: string, from: number, name: string): number {
  const closer = new RegExp(`</${name}\\s*>`, "gi");
  closer.lastIndex = from;
  const match = closer.exec(html);
  return match === null ? html.length : match.index + match[0].length;
}
