import { escapeHtml } from "./escape-html.ts";

type Part = string | number | Html | readonly Html[] | null;

/** HTML that may be sent as it is: only `html` makes it. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  static of(strings: TemplateStringsArray, parts: readonly Part[]): Html {
    return new Html(strings.reduce((text, string, index) => text + write(parts[index - 1] ?? null) + string));
  }

  toString(): string {
    return this.#text;
  }
}

function write(part: Part): string {
  if (part === null) return "";
  if (Array.isArray(part)) return part.join("\n");
  return part instanceof Html ? part.toString() : escapeHtml(String(part));
}

/**
 * A template of HTML. Text that is put into it is escaped, for between tags and for quoted attributes; parts that `html`
 * made stay as they are; null is nothing.
 *
 * @example html`<p title="${name}">${name}</p>`
 */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html => Html.of(strings, parts);
