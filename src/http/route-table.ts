/** Which methods a path is known for, to tell a wrong method (405) from an unknown path (404). */
export interface RouteTable {
  add(method: string | readonly string[], pattern: string): void;
  /** Methods of every pattern that matches, sorted; empty where the path is unknown. */
  methodsOf(url: string): readonly string[];
}

export function createRouteTable(): RouteTable {
  const routes: { readonly methods: readonly string[]; readonly segments: readonly string[] }[] = [];
  return {
    add(method, pattern) {
      routes.push({ methods: typeof method === "string" ? [method] : method, segments: pattern.split("/") });
    },
    methodsOf(url) {
      const path = url.split(/[?#]/, 1)[0] ?? "";
      const segments = path.split("/");
      const found = routes.filter((route) => matches(route.segments, segments)).flatMap((route) => route.methods);
      return [...new Set(found)].sort();
    },
  };
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.at(-1) === "*") {
    return (
      segments.length >= pattern.length && pattern.slice(0, -1).every((part, index) => same(part, segments[index]))
    );
  }
  return pattern.length === segments.length && pattern.every((part, index) => same(part, segments[index]));
}

function same(part: string, segment: string | undefined): boolean {
  return part.startsWith(":") || part === segment;
}
