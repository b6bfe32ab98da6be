import { escapeHtml } from "../../lib/escape-html.ts";

/** A value in a template: text and numbers are escaped, `Html` is inserted unchanged, null is omitted. */
type Part = string | number | Html | readonly Html[] | null;

/** HTML that is safe to send. Only the `html` template tag creates it, so all text in it has been escaped. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  static of(strings: TemplateStringsArray, parts: readonly Part[]): Html {
    return new Html(strings.reduce((text, string, index) => text + render(parts[index - 1] ?? null) + string));
  }

  toString(): string {
    return this.#text;
  }
}

function render(part: Part): string {
  if (part === null) return "";
  if (Array.isArray(part)) return part.join("\n");
  return part instanceof Html ? part.toString() : escapeHtml(String(part));
}

/**
 * Template tag for HTML. Interpolated text is escaped for element content and quoted attributes.
 *
 * @example html`<p title="${name}">${name}</p>`
 */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html => Html.of(strings, parts);
