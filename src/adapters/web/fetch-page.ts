import http from "node:http";
import https from "node:https";
import { BlockList, isIP, isIPv6, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from "request-filtering-agent";
import { createDnsResolver, type ResolveHost } from "../network/guarded-agent.ts";
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

/** IPv6 addresses that are assigned to hosts. Others contain IPv4 addresses in old forms, which the agent permits. */
const GLOBAL_IPV6 = new BlockList();
GLOBAL_IPV6.addSubnet("2000::", 3, "ipv6");
const isForbiddenIpv6 = (address: string): boolean => isIPv6(address) && !GLOBAL_IPV6.check(address, "ipv6");

/** Addresses that may be requested. The default permits only public addresses on the ports of http and https. */
export interface AccessRule {
  /** Addresses and ranges that are allowed although they are not public. Only for tests. */
  readonly addresses: readonly string[];
  readonly ports: readonly string[];
}
export const PUBLIC_ADDRESSES: AccessRule = { addresses: [], ports: ["", "80", "443"] };

export interface FetchedPage {
  /** Address after redirects. */
  readonly url: string;
  readonly contentType: string;
  readonly body: string;
}

export interface FetchPageOptions {
  readonly rule: AccessRule;
  /** Name resolution; injected by tests. The default queries the DNS servers of the system. */
  readonly resolveHost?: ResolveHost;
}

/**
 * Requests a public web page. Every connection, also after a redirect, is refused unless all addresses of its host are
 * public: the check runs on the addresses that the socket connects to, so a name that changes its address is refused
 * too. Bounded in redirects, bytes (received and decoded) and time.
 *
 * @throws Error with a short message; nothing of the response is in it
 */
export async function fetchPage(url: string, signal: AbortSignal, options: FetchPageOptions): Promise<FetchedPage> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(TIME_MS_MAX)]);
  const agentOptions = { allowIPAddressList: [...options.rule.addresses], keepAlive: false, timeout: TIME_MS_MAX };
  let address = url;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    const target = parseAddress(address, options.rule);
    const response = await request(target, bounded, agentOptions, toLookup(options.resolveHost ?? resolvePublicName));
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
function parseAddress(text: string, rule: AccessRule): URL {
  if (text.length > URL_CHARACTERS_MAX || !URL.canParse(text)) throw new Error("The address is not valid.");
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw new Error("The address is not http or https.");
  if (url.username !== "" || url.password !== "") throw new Error("The address contains a user.");
  if (isForbiddenIpv6(url.hostname.replace(/^\[|\]$/g, ""))) throw new Error("The address is not public.");
  if (!rule.ports.includes(url.port)) throw new Error("The port is not allowed.");
  return url;
}

/**
 * Makes a resolver usable by sockets. `dns.lookup` would hold one of the few threads that also read files for as long
 * as the name's DNS server is silent.
 */
const toLookup =
  (resolveHost: ResolveHost): LookupFunction =>
  (name, options, callback) => {
    const isUsable = (family: number) =>
      options.family === 0 || options.family === undefined || options.family === family;
    resolveHost(name).then(
      (addresses) => {
        const found = addresses
          .map((address) => ({ address, family: isIP(address) }))
          .filter((entry) => isUsable(entry.family));
        const [first] = found;
        if (first === undefined) callback(new Error("the host has no address"), "");
        else if (options.all === true) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), ""),
    );
  };

const resolvePublicName = createDnsResolver();

/** Looks up a name and fails if one of its addresses is an IPv6 address that is not global. */
const withGlobalIpv6 =
  (lookup: LookupFunction): LookupFunction =>
  (name, options, callback) =>
    lookup(name, options, (error, address, family) => {
      const addresses = typeof address === "string" ? [address] : (address ?? []).map((entry) => entry.address);
      if (error === null && addresses.some(isForbiddenIpv6))
        callback(new Error("The address is not public."), address, family);
      else callback(error, address, family);
    });

function request(
  url: URL,
  signal: AbortSignal,
  agentOptions: { allowIPAddressList: string[]; keepAlive: boolean; timeout: number },
  lookup: LookupFunction,
): Promise<http.IncomingMessage> {
  const isSecure = url.protocol === "https:";
  const agent = isSecure ? new RequestFilteringHttpsAgent(agentOptions) : new RequestFilteringHttpAgent(agentOptions);
  const headers = { "user-agent": USER_AGENT, accept: "text/html,text/plain;q=0.9", "accept-encoding": "gzip, br" };
  return new Promise((resolve, reject) => {
    const outgoing = (isSecure ? https : http).get(
      url,
      { agent, headers, signal, maxHeaderSize: HEADER_BYTES_MAX, lookup: withGlobalIpv6(lookup) },
      resolve,
    );
    limitResponse(outgoing);
    outgoing.on("error", () =>
      reject(new Error(signal.aborted ? "The page took too long." : "The page could not be reached.")),
    );
  });
}

/** Reads and decodes a body; ends it at the limit of bytes, before and after decoding. */
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

/** Decodes by the charset of the header, else as UTF-8. An unknown charset is read as UTF-8. */
function decodeText(body: Buffer, contentType: string): string {
  const label = /charset\s*=\s*"?([\w-]{1,40})/i.exec(contentType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}
