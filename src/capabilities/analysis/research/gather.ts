import type { Log } from "../../../ports/log.ts";
import type { WebPage, WebPageReader } from "../../../ports/web-page.ts";
import type { WebSearch } from "../../../ports/web-search.ts";
import { cleanLine, cleanText } from "../../../prompting/clean-text.ts";
import { findInstruction } from "../../../prompting/instructions.ts";
import { removeCopies } from "./duplicates.ts";
import type { FoundPage, ResearchDocument, ResearchLimits } from "./model.ts";

const TITLE_CHARACTERS = 300;
const URL_CHARACTERS = 2_000;
/** Minimum length of a page's text. Shorter texts contain no evidence. */
const TEXT_CHARACTERS_MIN = 150;

/** Host of a URL without a leading `www.`; null unless the URL is http or https without a user. */
function hostOf(url: string): string | null {
  if (url.length > URL_CHARACTERS || !URL.canParse(url)) return null;
  const { protocol, hostname, username, password } = new URL(url);
  if (!/^https?:$/.test(protocol) || username !== "" || password !== "") return null;
  return hostname.replace(/^www\./, "").replace(/\.$/, "");
}

/** Publisher of a host: its last two labels, or its last three under a suffix such as "co.uk" ("bbc.co.uk"). */
function publisherOf(host: string): string {
  const labels = host.split(".");
  const [second = "", last = ""] = labels.slice(-2);
  return labels.slice(second.length <= 3 && last.length === 2 ? -3 : -2).join(".");
}

export interface SearchOutcome {
  readonly found: readonly FoundPage[];
  /** Names of the engines that failed for every query. */
  readonly failedEngines: readonly string[];
}

/** Sends every query to every search engine, and merges the hits by rank. Omits pages newer than `asOf`. */
export async function searchPages(
  engines: readonly WebSearch[],
  queries: readonly string[],
  asOf: number,
  limits: ResearchLimits,
  signal: AbortSignal,
  log: Log,
): Promise<SearchOutcome> {
  const failures = new Map<string, number>();
  const lists = await Promise.all(
    engines.flatMap((engine) =>
      queries.map(async (query) => {
        try {
          const request = { query, publishedUntil: asOf, hitsMax: limits.hitsPerQuery, signal };
          return (await engine.search(request)).slice(0, limits.hitsPerQuery);
        } catch (error) {
          failures.set(engine.name, (failures.get(engine.name) ?? 0) + 1);
          log.debug({ engine: engine.name, error: String(error).slice(0, 200) }, "a search failed");
          return [];
        }
      }),
    ),
  );
  const found = new Map<string, FoundPage>();
  const perPublisher = new Map<string, number>();
  for (let rank = 0; rank < limits.hitsPerQuery; rank++)
    for (const list of lists) {
      const hit = list[rank];
      const host = hit === undefined ? null : hostOf(hit.url);
      if (hit === undefined || host === null || found.size >= limits.pages) continue;
      const address = new URL(hit.url);
      address.hash = "";
      const { href } = address;
      const publisher = publisherOf(host);
      const count = perPublisher.get(publisher) ?? 0;
      const isTooNew = hit.publishedAt !== null && hit.publishedAt > asOf;
      if (isTooNew || found.has(href) || count >= limits.pagesPerPublisher) continue;
      perPublisher.set(publisher, count + 1);
      found.set(href, { url: href, title: cleanLine(hit.title, TITLE_CHARACTERS), publishedAt: hit.publishedAt });
    }
  const failedEngines = [...failures].filter(([, count]) => count === queries.length).map(([name]) => name);
  return { found: [...found.values()], failedEngines };
}

/** Reads the pages concurrently. Omits pages that fail or have not arrived when the signal aborts. */
export async function readPages(
  pages: WebPageReader,
  found: readonly FoundPage[],
  signal: AbortSignal,
  log: Log,
): Promise<(WebPage & Pick<FoundPage, "publishedAt">)[]> {
  const aborted = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });
  const read = await Promise.all(
    found.map(async ({ url, title, publishedAt }) => {
      const reading = pages.read(url, signal).catch((error: unknown) => {
        log.debug({ host: hostOf(url), error: String(error).slice(0, 200) }, "a page could not be read");
        return null;
      });
      const page = await Promise.race([reading, aborted]);
      if (page === null) return [];
      return [{ ...page, title: page.title || title, publishedAt: page.publishedAt ?? publishedAt }];
    }),
  );
  return read.flat();
}

/**
 * Converts pages to documents: cleaned, without copied passages, grouped by publisher. Marks copies and pages that
 * contain instructions as `excluded`. Leaves out pages newer than `asOf`.
 *
 * @param requiresDate  true if `asOf` is in the past, because a page without a date may describe later events
 */
export function buildDocuments(
  pages: readonly WebPage[],
  asOf: number,
  requiresDate: boolean,
  limits: ResearchLimits,
): ResearchDocument[] {
  const cleaned = pages.flatMap((page) => {
    const host = hostOf(page.url);
    const { publishedAt } = page;
    if (host === null || (publishedAt === null ? requiresDate : publishedAt > asOf)) return [];
    const title = cleanLine(page.title, TITLE_CHARACTERS);
    const text = cleanText(page.text, limits.documentCharacters);
    if (text.length < TEXT_CHARACTERS_MIN) return [];
    return [
      { url: page.url, host, title, text, publishedAt, instructs: findInstruction(`${title}\n${text}`) !== null },
    ];
  });
  // Compares only pages without instructions, so that a malicious page cannot exclude an article by copying it.
  const counted = cleaned.filter(({ instructs }) => !instructs);
  const ownTexts = new Map(removeCopies(counted.map(({ text }) => text)).map((own, index) => [counted[index], own]));
  const sourceIds = new Map<string, string>();
  const sourceIdOf = (publisher: string): string => {
    const id = sourceIds.get(publisher) ?? `s${sourceIds.size + 1}`;
    sourceIds.set(publisher, id);
    return id;
  };
  return cleaned.map((entry, index): ResearchDocument => {
    const { instructs, ...page } = entry;
    const document = { ...page, id: `d${index + 1}`, sourceId: sourceIdOf(publisherOf(page.host)) };
    if (instructs) return { ...document, excluded: "instructs" };
    const own = ownTexts.get(entry);
    const isCopy = own === undefined || own.isCopy || own.text.length < TEXT_CHARACTERS_MIN;
    return { ...document, text: own?.text ?? "", excluded: isCopy ? "copy" : null };
  });
}
