import { BlockList } from "node:net";
import { normaliseIpAddress } from "../../lib/ip-prefix.ts";

/** Global unicast IPv6 addresses. Other addresses are not global or embed an IPv4 address in an obsolete format. */
const GLOBAL_IPV6 = createList([["2000::", 3]], "ipv6");

const FORBIDDEN_IPV6 = createList(
  [
    // Teredo, benchmarking and other protocol assignments. Teredo addresses contain IPv4 addresses.
    ["2001::", 23],
    ["2001:db8::", 32],
    // 6to4 addresses contain IPv4 addresses.
    ["2002::", 16],
    ["3fff::", 20],
  ],
  "ipv6",
);

const FORBIDDEN_IPV4 = createList(
  [
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
    ["192.88.99.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
    ["224.0.0.0", 4],
    ["240.0.0.0", 4],
  ],
  "ipv4",
);

function createList(subnets: readonly (readonly [string, number])[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [network, prefixLength] of subnets) list.addSubnet(network, prefixLength, family);
  return list;
}

/**
 * Returns whether text is an IP address of a host on the public internet. Brackets and the zone are ignored. An
 * IPv4-mapped IPv6 address is checked as its IPv4 address. Text that is not an IP address is not public.
 */
export function isPublicAddress(text: string): boolean {
  const address = normaliseIpAddress(text);
  if (address === null) return false;
  if (!address.includes(":")) return !FORBIDDEN_IPV4.check(address, "ipv4");
  return GLOBAL_IPV6.check(address, "ipv6") && !FORBIDDEN_IPV6.check(address, "ipv6");
}
