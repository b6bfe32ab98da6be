import { type MarkedToken, marked, type Token, type Tokens } from "marked";
import { type Html, html, renderCode, renderTable } from "../../../http/html/index.ts";

/** Code blocks of these languages are shown in tabs if they follow each other. */
const TAB_NAMES: Readonly<Record<string, string>> = { sh: "curl", ts: "TypeScript", python: "Python" };
const LINK_PATTERN = /^(?:\/|#|https:\/\/)/;

/** A target of links: a heading, or a table row that starts with code. */
export interface Heading {
  readonly id: string;
  readonly text: string;
  readonly depth: number;
}

interface DocumentSection {
  /** The anchor of its heading; null for the introduction. */
  readonly id: string | null;
  readonly content: Html;
}

export interface MarkdownDocument {
  /** The text of the first heading. */
  readonly title: string;
  readonly headings: readonly Heading[];
  /** The text without markup, for the search. */
  readonly text: string;
  /** The content below the first heading: the introduction, then one section for each heading of level 2. */
  readonly sections: readonly DocumentSection[];
}

/**
 * Renders our own Markdown: headings, paragraphs, lists, tables, code, links and emphasis. HTML in the text is escaped,
 * because only the `html` tag creates markup.
 *
 * - The blocks that follow the first line of a list item are shown in a `<details>` element.
 * - Code blocks in several languages that follow each other are shown in tabs.
 * - A code span that starts a table row is a target for links: `#rate_limited`.
 */
export function renderMarkdown(markdown: string): MarkdownDocument {
  const tokens = marked.lexer(markdown).filter((token): token is MarkedToken => token.type !== "space");
  const [first] = tokens;
  if (first?.type !== "heading" || first.depth !== 1) throw new Error("A document starts with a heading: # Title");
  const renderer = new Renderer();
  const sections = splitSections(tokens.slice(1)).map((blocks) => {
    const [heading] = blocks;
    const id = heading?.type === "heading" ? createAnchor(heading.text) : null;
    return { id, content: html`${renderer.renderBlocks(blocks)}` };
  });
  return { title: first.text, headings: renderer.headings, text: renderer.texts.join(" "), sections };
}

function splitSections(tokens: readonly MarkedToken[]): readonly (readonly MarkedToken[])[] {
  const sections: MarkedToken[][] = [[]];
  for (const token of tokens) {
    if (token.type === "heading" && token.depth === 2) sections.push([]);
    sections.at(-1)?.push(token);
  }
  return sections.filter((blocks) => blocks.length > 0);
}

class Renderer {
  readonly headings: Heading[] = [];
  readonly texts: string[] = [];
  #tabGroups = 0;
  #codeBlocks = 0;

  renderBlocks(tokens: readonly Token[]): readonly Html[] {
    const blocks: Html[] = [];
    for (let index = 0; index < tokens.length; index++) {
      const token = tokens[index] as MarkedToken;
      const group = token.type === "code" ? takeTabs(tokens, index) : [];
      if (group.length > 1) {
        blocks.push(this.#renderTabs(group));
        index += group.length - 1;
      } else blocks.push(this.#renderBlock(token));
    }
    return blocks;
  }

  renderInlines(tokens: readonly Token[] | undefined): readonly Html[] {
    return (tokens ?? []).map((token) => this.#renderInline(token as MarkedToken));
  }

  #renderBlock(token: MarkedToken): Html {
    switch (token.type) {
      case "heading":
        return this.#renderHeading(token);
      case "paragraph":
        return html`<p>${join(this.renderInlines(token.tokens))}</p>`;
      case "text":
        return join(this.renderInlines(token.tokens ?? [token]));
      case "code":
        return this.#renderCode(token);
      case "list":
        return this.#renderList(token);
      case "table":
        return this.#renderTable(token);
      case "space":
        return html``;
      default:
        return html`<p>${token.raw}</p>`;
    }
  }

  #renderCode({ text }: Tokens.Code): Html {
    this.#codeBlocks += 1;
    return renderCode(`code-${this.#codeBlocks}`, text);
  }

  #renderHeading({ depth, text, tokens }: Tokens.Heading): Html {
    const id = createAnchor(text);
    this.headings.push({ id, text: text.replaceAll("`", ""), depth });
    const content = join(this.renderInlines(tokens));
    return depth === 2 ? html`<h2 id="${id}">${content}</h2>` : html`<h3 id="${id}">${content}</h3>`;
  }

  #renderList({ ordered, items }: Tokens.List): Html {
    const isDefinitions = items.every(({ tokens }) => isLedByCode(tokens[0]));
    const rendered = items.map((item) => this.#renderItem(item));
    if (ordered) return html`<ol>${rendered}</ol>`;
    return isDefinitions ? html`<ul class="fields">${rendered}</ul>` : html`<ul>${rendered}</ul>`;
  }

  #renderItem({ tokens }: Tokens.ListItem): Html {
    const [first, ...others] = tokens.filter(({ type }) => type !== "space");
    const line = first === undefined ? html`` : this.#renderBlock(first as MarkedToken);
    if (others.length === 0) return html`<li>${line}</li>`;
    const summary = others[0]?.type === "code" ? "Example" : "Fields";
    return html`<li>${line}<details><summary>${summary}</summary>${this.renderBlocks(others)}</details></li>`;
  }

  #renderTable({ header, rows }: Tokens.Table): Html {
    const renderCell = ({ tokens }: Tokens.TableCell, index: number): Html => {
      const [first] = tokens;
      if (index > 0 || tokens.length !== 1 || first?.type !== "codespan") return join(this.renderInlines(tokens));
      this.headings.push({ id: first.text, text: first.text, depth: 3 });
      return html`<code id="${first.text}">${first.text}</code>`;
    };
    return renderTable(
      header.map(({ text }) => text),
      rows.map((cells) => ({ cells: cells.map(renderCell) })),
    );
  }

  /** Radio buttons select the tab, so that tabs need no script. */
  #renderTabs(group: readonly Tokens.Code[]): Html {
    this.#tabGroups += 1;
    const name = `tabs-${this.#tabGroups}`;
    const tabs = group.map((code, index) => {
      const { lang = "" } = code;
      const id = `${name}-${lang}`;
      const control =
        index === 0
          ? html`<input type="radio" name="${name}" id="${id}" value="${lang}" checked>`
          : html`<input type="radio" name="${name}" id="${id}" value="${lang}">`;
      return html`${control}<label for="${id}">${TAB_NAMES[lang] ?? lang}</label><div class="panel">${this.#renderCode(code)}</div>`;
    });
    return html`<fieldset class="tabs"><legend class="visually-hidden">Language</legend>${tabs}</fieldset>`;
  }

  #renderInline(token: MarkedToken): Html {
    switch (token.type) {
      case "strong":
        return html`<strong>${join(this.renderInlines(token.tokens))}</strong>`;
      case "em":
        return html`<em>${join(this.renderInlines(token.tokens))}</em>`;
      case "codespan":
        this.texts.push(token.text);
        return html`<code>${token.text}</code>`;
      case "link": {
        const content = join(this.renderInlines(token.tokens));
        return LINK_PATTERN.test(token.href) ? html`<a href="${token.href}">${content}</a>` : content;
      }
      case "text":
      case "escape":
        this.texts.push(token.text);
        return html`${token.text}`;
      case "br":
        return html`<br>`;
      default:
        return html`${token.raw}`;
    }
  }
}

/** Joins inline elements without the line breaks that a list in a template has. */
const join = (parts: readonly Html[]): Html => parts.reduce((joined, part) => html`${joined}${part}`, html``);

/** Returns the code blocks from `start` that belong in one group of tabs. */
function takeTabs(tokens: readonly Token[], start: number): readonly Tokens.Code[] {
  const group: Tokens.Code[] = [];
  for (const token of tokens.slice(start)) {
    if (token.type !== "code" || TAB_NAMES[token.lang ?? ""] === undefined) break;
    if (group.some(({ lang }) => lang === token.lang)) break;
    group.push(token as Tokens.Code);
  }
  return group;
}

function isLedByCode(token: Token | undefined): boolean {
  return token !== undefined && "tokens" in token && token.tokens?.[0]?.type === "codespan";
}

/** Returns the anchor of a heading: lower-case words joined by hyphens. */
const createAnchor = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, "-")
    .replace(/^-|-$/g, "");
