/**
 * Whether the domain or one of its parent domains is on the list of disposable e-mail domains.
 *
 * @param domain  in canonical form, like the entries of the list
 */
export function isDisposable(domain: string, list: ReadonlySet<string>): boolean {
  for (let rest = domain; rest !== ""; ) {
    if (list.has(rest)) return true;
    const dot = rest.indexOf(".");
    rest = dot < 0 ? "" : rest.slice(dot + 1);
  }
  return false;
}
