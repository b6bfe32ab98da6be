const LOOPBACK_ADDRESS_PATTERN = /^(?:::1|(?:::ffff:)?127(?:\.\d{1,3}){3})$/i;
const PORT_PATTERN = /:\d{1,5}$/;

export const isLoopbackAddress = (address: string): boolean => LOOPBACK_ADDRESS_PATTERN.test(address);

/** Returns whether a host is `localhost` or a loopback address, with or without brackets. Names are not resolved. */
export function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === "localhost" || isLoopbackAddress(/^\[(.*)\]$/.exec(host)?.[1] ?? host);
}

/**
 * Returns the host of a `Host` header without its port; empty if the header is missing.
 *
 * @example hostWithoutPort("[::1]:8787"); // "[::1]"
 */
export const hostWithoutPort = (header: string | undefined): string => (header ?? "").replace(PORT_PATTERN, "");
