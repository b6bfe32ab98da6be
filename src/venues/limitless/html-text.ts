/** Maximum input length. Longer input is truncated. */
const HTML_CHARS_MAX = 100_000;
const TEXT_CHARS_MAX = 20_000;
const ENTITY_CHARS_MAX = 10;

/** Elements rendered as separate lines or paragraphs. */
const BLOCK_ELEMENTS = new Set(
  "address article aside blockquote br dd div dl dt footer h1 h2 h3 h4 h5 h6 header hr li ol p pre section table td th tr ul".split(
    " ",
  ),
);
const NON_TEXT_ELEMENTS = new Set(["script", "style", "template", "iframe", "noscript", "title"]);

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  hellip: "…",
  bull: "•",
  middot: "·",
  deg: "°",
  euro: "€",
  pound: "£",
  yen: "¥",
  cent: "¢",
  copy: "©",
  reg: "®",
  trade: "™",
  times: "×",
  frac12: "½",
  le: "≤",
  ge: "≥",
  ne: "≠",
};

/**
 * Converts untrusted HTML to plain text: removes tags and script content, replaces block elements with line breaks and
 * decodes entities once. Runs in linear time. The result is not safe HTML: escape it before rendering. Returns at most
 * 20,000 characters, or null if no text remains.
 */
export function htmlToText(html: string): string | null {
  const input = html.slice(0, HTML_CHARS_MAX);
  let out = "";
  let at = 0;
  // A "<" after the last ">" is text. Searching for that ">" once keeps the scan linear.
  const lastClose = input.lastIndexOf(">");
  while (at < input.length && out.length < 2 * TEXT_CHARS_MAX) {
    const open = input.indexOf("<", at);
    if (open === -1 || open > lastClose) {
      out += decodeEntities(input.slice(at));
      break;
    }
    out += decodeEntities(input.slice(at, open));
    if (!/[a-z/!?]/i.test(input[open + 1] ?? "")) {
      out += "<";
      at = open + 1;
      continue;
    }
    if (input.startsWith("<!--", open)) {
      const end = input.indexOf("-->", open + 4);
      if (end === -1) break;
      at = end + 3;
      continue;
    }
    const close = input.indexOf(">", open);
    const name = tagName(input, open, close);
    at = close + 1;
    if (NON_TEXT_ELEMENTS.has(name)) {
      const end = endOfElement(input, name, at);
      if (end === -1) break;
      at = end;
    } else if (BLOCK_ELEMENTS.has(name.replace("/", ""))) {
      out += name === "br" || name === "li" || name === "tr" ? "\n" : "\n\n";
    }
  }
  return normaliseWhitespace(out);
}

/** Returns the lower-case name of the tag between `open` and `close`. The name of an end tag starts with a slash. */
function tagName(input: string, open: number, close: number): string {
  const inside = input.slice(open + 1, Math.min(close, open + 20)).toLowerCase();
  return /^\/?[a-z][a-z0-9]*/.exec(inside)?.[0] ?? "";
}

/** Returns the position after the end tag of an element, or -1 if the element is not closed. */
function endOfElement(input: string, name: string, from: number): number {
  const endTag = `</${name}`;
  for (let at = input.indexOf("</", from); at !== -1; at = input.indexOf("</", at + 2)) {
    if (input.slice(at, at + endTag.length).toLowerCase() === endTag) {
      const close = input.indexOf(">", at);
      return close === -1 ? -1 : close + 1;
    }
  }
  return -1;
}

function decodeEntities(text: string): string {
  let out = "";
  let at = 0;
  for (let amp = text.indexOf("&"); amp !== -1; amp = text.indexOf("&", at)) {
    out += text.slice(at, amp);
    const end = text.slice(amp + 1, amp + 2 + ENTITY_CHARS_MAX).indexOf(";");
    const decoded = end === -1 ? null : decodeEntity(text.slice(amp + 1, amp + 1 + end));
    out += decoded ?? "&";
    at = decoded === null ? amp + 1 : amp + end + 2;
  }
  return out + text.slice(at);
}

function decodeEntity(name: string): string | null {
  if (!name.startsWith("#")) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? null) : null;
  const isHex = /^#x[0-9a-f]{1,6}$/i.test(name);
  if (!isHex && !/^#\d{1,7}$/.test(name)) return null;
  const code = isHex ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  const isCharacter = code >= 0x20 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : " ";
}

/** Replaces control characters, collapses runs of spaces and separates paragraphs with one empty line. */
function normaliseWhitespace(text: string): string | null {
  const lines: string[] = [];
  for (const line of text.replace(/[^\P{Cc}\n]/gu, " ").split("\n")) {
    const words = line
      .split(/\s/u)
      .filter((word) => word !== "")
      .join(" ");
    if (words !== "" || (lines.length > 0 && lines.at(-1) !== "")) lines.push(words);
  }
  const normalised = lines.join("\n").trim().slice(0, TEXT_CHARS_MAX).toWellFormed();
  return normalised === "" ? null : normalised;
}
