/**
 * First address of each forbidden IPv4 range and its prefix length. A separate copy of the ranges in
 * guarded-address.ts, so that a range that is removed there makes a test fail.
 */
const FORBIDDEN_IPV4: readonly (readonly [first: string, prefixLength: number])[] = [
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
];
const FORBIDDEN_IPV6 = [
  ...["::", "::1", "fe80::1", "febf::1", "fc00::1", "fd12:3456::1", "fec0::1", "ff02::1", "2001:db8::1", "3fff::1"],
  ...["100::1", "64:ff9b:1::1", "5f00::1", "2001::1", "2001:0:a00:1::", "4000::1", "2002:7f00:1::"],
];
const ADDRESSES_PER_RANGE = 14;
const KNOWN_TARGETS = ["127.0.0.1", "0.0.0.0", "169.254.169.254", "10.0.0.1", "192.168.0.1", "255.255.255.255"];

const toNumber = (address: string): number => address.split(".").reduce((value, part) => value * 256 + Number(part), 0);
const toAddress = (value: number): string =>
  [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join(".");
const hex = (value: number): string => value.toString(16);
const octal = (value: number): string => `0${value.toString(8)}`;
const fullWidth = (text: string): string => text.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)));
const percentEncode = (text: string): string =>
  [...text].map((character) => `%${character.charCodeAt(0).toString(16)}`).join("");

/** Ways to write an IPv4 address as the host of a URL. Some are not valid URLs. */
function spellIpv4(value: number): string[] {
  const address = toAddress(value);
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  const low = c * 256 + d;
  const groups = `${hex(a * 256 + b)}:${hex(low)}`;
  return [
    ...[
      address,
      `${address}.`,
      `${address}..`,
      String(value),
      `${value}.`,
      `0x${hex(value)}`,
      `0X${hex(value).toUpperCase()}`,
    ],
    ...[
      octal(value),
      `000${octal(value)}`,
      `${a}.${b}.${low}`,
      `${a}.${b * 65_536 + low}`,
      `0x${hex(a)}.${b}.${octal(c)}.${d}`,
    ],
    [a, b, c, d].map((part) => `0x${hex(part)}`).join("."),
    [a, b, c, d].map((part) => `0x000${hex(part)}`).join("."),
    [a, b, c, d].map(octal).join("."),
    ...[fullWidth(address), address.replaceAll(".", "。"), address.replaceAll(".", "．"), percentEncode(address)],
    ...[address.replaceAll(".", "%2e"), `${address}%00.hooks.example`, `${address}%2f`, `hooks.example@${address}`],
    ...[`a:b@${address}`, `[::ffff:${address}]`, `[::FFFF:${groups}]`, `[0:0:0:0:0:ffff:${address}]`, `[::${address}]`],
    ...[
      `[::${groups}]`,
      `[64:ff9b::${address}]`,
      `[64:FF9B::${groups}]`,
      `[64:ff9b:1::${groups}]`,
      `[2002:${groups}::1]`,
    ],
    ...[`[2001:0:${groups}::1]`, `[::ffff:0:${groups}]`, `[::ffff:${address}%25eth0]`, `[fe80::${groups}%25lo]`],
    `[fec0::${groups}]`,
  ];
}

function spellIpv6(address: string): string[] {
  return [
    ...[`[${address}]`, `[${address.toUpperCase()}]`, `[${address}%eth0]`, `[${address}%25eth0]`, `[${address}].`],
    ...[address, `user@[${address}]`, percentEncode(`[${address}]`), `[${fullWidth(address)}]`],
  ];
}

/** Names of loopback and of private networks. */
const NAMES = [
  ...["localhost", "LOCALHOST", "localhost.", "ｌocalhost", "%6cocalhost", "a.localhost", "localhost.localdomain"],
  ...["metadata.google.internal", "router.local", "router.home.arpa", "ip6-localhost", "intranet", "kubernetes"],
  ...["127.0.0.1.nip.io", "7f000001.rbndr.example", "localtest.me"],
];

/** More than 5,000 hosts of URLs that lead, or could lead, to an address that is not public. The list never changes. */
export function spellForbiddenHosts(): readonly string[] {
  const values = KNOWN_TARGETS.map(toNumber);
  for (const [first, prefixLength] of FORBIDDEN_IPV4) {
    const size = 2 ** (32 - prefixLength);
    for (let index = 0; index < ADDRESSES_PER_RANGE; index++) {
      // Addresses from the first to the last of the range, at irregular distances.
      const offset = Math.floor((size - 1) * (index / (ADDRESSES_PER_RANGE - 1)) ** 1.7);
      values.push(toNumber(first) + offset);
    }
  }
  return [...new Set([...values.flatMap(spellIpv4), ...FORBIDDEN_IPV6.flatMap(spellIpv6), ...NAMES])];
}
