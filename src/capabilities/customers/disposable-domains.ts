/**
 * Whether mail to this domain goes to a throw-away mailbox: the domain or one that it lies in is on the list.
 *
 * @param domain  in canonical form, as the list's
 */
export function isDisposable(domain: string, list: ReadonlySet<string>): boolean {
  for (let rest = domain; rest !== ""; ) {
    if (list.has(rest)) return true;
    const dot = rest.indexOf(".");
    rest = dot < 0 ? "" : rest.slice(dot + 1);
  }
  return false;
}
