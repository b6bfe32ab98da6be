const OCTET_PATTERN = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4_PATTERN = new RegExp(`^(${OCTET_PATTERN}(?:\\.${OCTET_PATTERN}){3})(?::\\d{1,5})?$`);
const BRACKETED_PATTERN = /^\[(.*)\](?::\d{1,5})?$/;
const IPV6_CHARACTERS_PATTERN = /^[0-9a-f:.]+$/i;
const GROUP_COUNT = 8;
const BLOCK_GROUP_COUNT = 4;
const SITE_GROUP_COUNT = 3;
/** Limit of a /48 as a multiple of the limit of a /64. */
const SITE_LIMIT_FACTOR = 4;
/** The first six groups of an IPv4-mapped IPv6 address. */
const MAPPED_PREFIX = "0:0:0:0:0:ffff";
const UNKNOWN_BLOCK = "unknown";

/**
 * Returns the prefix that rate limits apply to: the whole IPv4 address, or the /64 of an IPv6 address, because one
 * subscriber usually has a whole /64. An IPv4-mapped IPv6 address is treated as IPv4. The result for invalid text is
 * "unknown".
 *
 * @example rateLimitPrefix("2001:db8::1"); // "2001:db8:0:0"
 */
export function rateLimitPrefix(text: string): string {
  const address = normaliseIpAddress(text);
  if (address === null) return UNKNOWN_BLOCK;
  return address.includes(":") ? address.split(":").slice(0, BLOCK_GROUP_COUNT).join(":") : address;
}

export interface RateLimitedPrefix {
  readonly block: string;
  /** Limit of the prefix as a multiple of the usual limit. */
  readonly factor: number;
}

/**
 * Returns the prefixes of an IP address that have a rate limit, smallest first. An IPv6 address has two: its /64, and
 * its /48 with four times the limit. Without the second one, a site with a /48 could use 65,536 times the limit.
 *
 * @example rateLimitedPrefixes("2001:db8::1"); // [{ block: "2001:db8:0:0", factor: 1 }, { block: "2001:db8:0::/48",
 *   factor:
 *   4 }]
 */
export function rateLimitedPrefixes(text: string): readonly RateLimitedPrefix[] {
  const block = rateLimitPrefix(text);
  const narrow = { block, factor: 1 };
  if (!block.includes(":")) return [narrow];
  return [
    narrow,
    { block: `${block.split(":").slice(0, SITE_GROUP_COUNT).join(":")}::/48`, factor: SITE_LIMIT_FACTOR },
  ];
}

/**
 * Normalises an IP address: removes the port, brackets and zone that proxies append, and expands all groups of an IPv6
 * address. Returns null if the text is not an IP address.
 *
 * @example normaliseIpAddress("[2001:DB8::1]:50123"); // "2001:db8:0:0:0:0:0:1"
 */
export function normaliseIpAddress(text: string): string | null {
  const ipv4 = IPV4_PATTERN.exec(text)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [ipv6 = ""] = (BRACKETED_PATTERN.exec(text)?.[1] ?? text).split("%", 1);
  const url = `http://[${ipv6}]`;
  if (!IPV6_CHARACTERS_PATTERN.test(ipv6) || !URL.canParse(url)) return null;
  const [head = "", tail] = new URL(url).hostname.slice(1, -1).split("::");
  const headGroups = splitGroups(head);
  const tailGroups = splitGroups(tail ?? "");
  const groups = [
    ...headGroups,
    ...Array<string>(GROUP_COUNT - headGroups.length - tailGroups.length).fill("0"),
    ...tailGroups,
  ];
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group, 16));
  if (groups.slice(0, -2).join(":") === MAPPED_PREFIX) return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  return groups.join(":");
}

const splitGroups = (text: string): string[] => (text === "" ? [] : text.split(":"));
