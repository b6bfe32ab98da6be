const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = new RegExp(`^(${OCTET}(?:\\.${OCTET}){3})(?::\\d{1,5})?$`);
const BRACKETED = /^\[(.*)\](?::\d{1,5})?$/;
const IPV6_CHARACTERS = /^[0-9a-f:.]+$/i;
const GROUPS = 8;
const BLOCK_GROUPS = 4;
/** The first six groups of an IPv4-mapped IPv6 address. */
const MAPPED_PREFIX = "0:0:0:0:0:ffff";
const NO_ADDRESS = "unknown";

const LOOPBACK = /^(?:::1|(?:::ffff:)?127(?:\.\d+){3})$/i;

/** Whether an address is a loopback address. */
export const isLoopback = (address: string): boolean => LOOPBACK.test(address);

/**
 * The block that rate limits apply to: an IPv4 address itself, or the /64 of an IPv6 address, because one subscriber
 * usually has a whole /64. An IPv4-mapped IPv6 address is treated as IPv4; invalid text is "unknown".
 *
 * @example addressBlock("2001:db8::1"); // "2001:db8:0:0"
 */
export function addressBlock(text: string): string {
  const address = plainAddress(text);
  if (address === null) return NO_ADDRESS;
  return address.includes(":") ? address.split(":").slice(0, BLOCK_GROUPS).join(":") : address;
}

/**
 * Normalises an address: removes the port, brackets and zone that proxies append, and expands all groups of an IPv6
 * address. Null if the text is not an address.
 *
 * @example plainAddress("[2001:DB8::1]:50123"); // "2001:db8:0:0:0:0:0:1"
 */
export function plainAddress(text: string): string | null {
  const ipv4 = IPV4.exec(text)?.[1];
  if (ipv4 !== undefined) return ipv4;
  const [bare = ""] = (BRACKETED.exec(text)?.[1] ?? text).split("%", 1);
  const url = `http://[${bare}]`;
  if (!IPV6_CHARACTERS.test(bare) || !URL.canParse(url)) return null;
  const [head = "", tail] = new URL(url).hostname.slice(1, -1).split("::");
  const before = groupsOf(head);
  const after = groupsOf(tail ?? "");
  const groups = [...before, ...Array<string>(GROUPS - before.length - after.length).fill("0"), ...after];
  const [high = 0, low = 0] = groups.slice(-2).map((group) => Number.parseInt(group, 16));
  if (groups.slice(0, -2).join(":") === MAPPED_PREFIX) return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  return groups.join(":");
}

const groupsOf = (text: string): string[] => (text === "" ? [] : text.split(":"));
