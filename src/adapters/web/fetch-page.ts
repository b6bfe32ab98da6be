import http from "node:http";
import https from "node:https";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import {
  createDnsResolver,
  dialTcp,
  GuardedAgent,
  type GuardedRequestOptions,
  type GuardPorts,
} from "../network/guarded-agent.ts";
import { limitResponse } from "../network/response-limits.ts";

const REDIRECTS_MAX = 3;
const BODY_BYTES_MAX = 1_500_000;
const HEADER_BYTES_MAX = 16_384;
const TIME_MS_MAX = 10_000;
const URL_CHARACTERS_MAX = 2_000;
const USER_AGENT = "Mozilla/5.0 (compatible; parallax/1.0)";
const TEXT_TYPES = /^(?:text\/(?:html|plain)|application\/xhtml\+xml)\s*(?:;|$)/i;
const DECODERS = new Map<string, () => NodeJS.ReadWriteStream & Readable>([
  ["gzip", createGunzip],
  ["br", createBrotliDecompress],
  ["deflate", createInflate],
]);

/** "" is the default port of the scheme. */
const PORTS = ["", "80", "443"];

export interface FetchedPage {
  /** Address after redirects. */
  readonly url: string;
  readonly contentType: string;
  readonly body: string;
}

/** Connections that tests permit or replace. By default only public addresses on the ports of http and https. */
export interface FetchPageOptions extends Partial<Pick<GuardPorts, "allowsLoopback" | "resolveHost" | "dial">> {
  readonly ports?: readonly string[];
}

/**
 * Requests a public web page. Every connection, also after a redirect, is refused unless all addresses of its host are
 * public. Bounded in redirects, bytes (received and decoded) and time.
 *
 * @throws Error with a short message that contains no part of the response
 */
export async function fetchPage(
  url: string,
  signal: AbortSignal,
  { ports = PORTS, ...options }: FetchPageOptions = {},
): Promise<FetchedPage> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(TIME_MS_MAX)]);
  const guard = { allowsLoopback: false, resolveHost: resolvePublicName, dial: dialTcp, ...options };
  let address = url;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const target = parseAddress(address, ports);
    const response = await request(target, bounded, guard);
    const { statusCode = 0, headers } = response;
    if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
      response.destroy();
      address = URL.canParse(headers.location, target.href) ? new URL(headers.location, target).href : "";
      continue;
    }
    const contentType = headers["content-type"] ?? "";
    if (statusCode !== 200 || !TEXT_TYPES.test(contentType)) {
      response.destroy();
      throw new Error(statusCode === 200 ? "The page is not text." : `The page answered with status ${statusCode}.`);
    }
    const body = await readBody(response, headers["content-encoding"], bounded);
    return { url: target.href, contentType, body: decodeText(body, contentType) };
  }
  throw new Error("The page has too many redirects.");
}

/** @throws Error unless the address is http or https, on an allowed port, without a user */
function parseAddress(text: string, ports: readonly string[]): URL {
  if (text.length > URL_CHARACTERS_MAX || !URL.canParse(text)) throw new Error("The address is not valid.");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw new Error("The address is not http or https.");
  if (url.username !== "" || url.password !== "") throw new Error("The address contains a user.");
  if (!ports.includes(url.port)) throw new Error("The port is not allowed.");
  return url;
}

const HEADERS = {
  "user-agent": USER_AGENT,
  accept: "text/html,text/plain;q=0.9",
  "accept-encoding": "gzip, br",
  // Each request has an agent of its own, so no later request could use the connection.
  connection: "close",
};

const resolvePublicName = createDnsResolver();

function request(url: URL, signal: AbortSignal, guard: GuardPorts): Promise<http.IncomingMessage> {
  const isSecure = url.protocol === "https:";
  const guarded: GuardedRequestOptions = { connectSignal: signal, sharedBy: undefined };
  const requestOptions = {
    agent: new GuardedAgent(isSecure ? "https:" : "http:", guard),
    headers: HEADERS,
    signal,
    maxHeaderSize: HEADER_BYTES_MAX,
    ...guarded,
  };
  return new Promise((resolve, reject) => {
    const outgoing = (isSecure ? https : http).get(url, requestOptions, resolve);
    limitResponse(outgoing);
    outgoing.on("error", () =>
      reject(new Error(signal.aborted ? "The page took too long." : "The page could not be reached.")),
    );
  });
}

/** Reads and decodes a body. Aborts if the received or the decoded bytes exceed the limit. */
async function readBody(
  response: http.IncomingMessage,
  encoding: string | undefined,
  signal: AbortSignal,
): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? "";
  const createDecoder = DECODERS.get(name);
  if (createDecoder === undefined && name !== "" && name !== "identity") {
    response.destroy();
    throw new Error("The page has an unknown encoding.");
  }
  let received = 0;
  response.on("data", (chunk: Buffer) => {
    received += chunk.length;
    if (received > BODY_BYTES_MAX) response.destroy(new Error("The page is too large."));
  });
  const decoder = createDecoder?.();
  const stream: Readable = decoder ?? response;
  const stop = () => stream.destroy(new Error("The page took too long."));
  signal.addEventListener("abort", stop, { once: true });
  if (decoder !== undefined) {
    response.on("error", (error) => decoder.destroy(error));
    response.pipe(decoder);
  }
  try {
    const chunks: Buffer[] = [];
    let decoded = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      decoded += chunk.length;
      if (decoded > BODY_BYTES_MAX) throw new Error("The page is too large.");
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    signal.removeEventListener("abort", stop);
    response.destroy();
  }
}

/** Decodes text with the charset of the header; without a known charset, as UTF-8. */
function decodeText(body: Buffer, contentType: string): string {
  const label = /charset\s*=\s*"?([\w-]{1,40})/i.exec(contentType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}
