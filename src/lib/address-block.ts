const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = new RegExp(`^(${OCTET}(?:\\.${OCTET}){3})(?::\\d{1,5})?$`);
const BRACKETED = /^\[(.*)\](?::\d{1,5})?$/;
const IPV6_CHARACTERS = /^[0-9a-f:.]+$/i;
const GROUPS = 8;
const BLOCK_GROUPS = 4;
/** The first six groups of an IPv4 address in IPv6 clothes. */
const MAPPED = "0:0:0:0:0:ffff";
const NO_ADDRESS = "unknown";

const LOOPBACK = /^(?:::1|(?:::ffff:)?127(?:\.\d+){3})$/i;

/** Whether an address is this machine's own to itself. */
export const isLoopback = (address: string): boolean => LOOPBACK.test(address);

/**
 * What an address is limited as: an IPv4 address by itself, an IPv6 address as its /64, because whoever has one has the
 * 2^64 of its network. An IPv4 address in IPv6 clothes is that IPv4 address; all that is no address is one.
 *
 * @example addressBlock("2001:db8::1"); // "2001:db8:0:0"
 */
export function addressBlock(text: string): string {
  const address = plainAddress(text);
  if (address === null) return NO_ADDRESS;
  return address.includes(":") ? address.split(":").slice(0, BLOCK_GROUPS).join(":") : address;
}

/**
 * The address itself, as one form of text: without the port, brackets and zone that proxies leave at it, an IPv6 address
 * with all its groups. Null for text that is no address.
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
  if (groups.slice(0, -2).join(":") === MAPPED) return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  return groups.join(":");
}

const groupsOf = (text: string): string[] => (text === "" ? [] : text.split(":"));
