const GROUPS = 8;
const BLOCK_GROUPS = 4;
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

const LOOPBACK = /^(?:::1|(?:::ffff:)?127(?:\.\d+){3})$/i;

/** Whether an address is this machine's own to itself. */
export const isLoopback = (address: string): boolean => LOOPBACK.test(address);

/**
 * What an address is limited as: an IPv4 address by itself, an IPv6 address as its /64, because whoever has one has the
 * 2^64 of its network. An IPv4 address in IPv6 clothes is that IPv4 address.
 *
 * @example addressBlock("2001:db8::1"); // "2001:db8:0:0"
 */
export function addressBlock(address: string): string {
  if (!address.includes(":")) return address;
  const mapped = MAPPED.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [bare = ""] = address.toLowerCase().split("%", 1);
  const [head = "", tail] = bare.split("::", 2);
  const before = groupsOf(head);
  // Where nothing was left out the tail is none; an IPv4 tail stands for two groups, both in the lower half.
  const after = tail === undefined ? [] : groupsOf(tail);
  const length = after.length + (after.at(-1)?.includes(".") === true ? 1 : 0);
  const zeros = tail === undefined ? 0 : GROUPS - before.length - length;
  const groups = [...before, ...Array<string>(Math.max(0, zeros)).fill("0"), ...after];
  return groups
    .slice(0, BLOCK_GROUPS)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}

const groupsOf = (text: string): string[] => (text === "" ? [] : text.split(":"));
