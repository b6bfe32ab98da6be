import type { LogicalConstraint } from "./model.ts";

export interface Literal {
  readonly variable: number;
  readonly value: boolean;
}

/** Two literals that cannot both be true. */
export interface Exclusion {
  readonly a: Literal;
  readonly b: Literal;
}

/** Boolean variables for markets. Markets that always resolve alike or opposite share a variable. */
export interface Variables {
  readonly count: number;
  /** By market: its variable, and the value of the variable if the market resolves YES. */
  readonly literals: readonly Literal[];
  /** The most important market of each variable. The variable is true if this market resolves YES. */
  readonly primaries: readonly number[];
  readonly exclusions: readonly Exclusion[];
  /** In every outcome, at least one literal of each clause is true. */
  readonly clauses: readonly (readonly Literal[])[];
  /** Number of constraints that contradict earlier constraints. */
  readonly droppedConstraints: number;
}

/**
 * Merges markets that always resolve alike or opposite into one variable (union-find with parity), and expresses the
 * other constraints in terms of variables. A pair that is exclusive and exhaustive is opposite. A constraint that
 * contradicts an earlier constraint is dropped.
 *
 * @param importances  by market; the most important one is the primary of its variable
 * @throws RangeError when a constraint names an unknown market
 */
export function collapseConstraints(
  importances: readonly number[],
  constraints: readonly LogicalConstraint[],
): Variables {
  const groups = new ParityGroups(importances.length);
  let droppedConstraints = 0;
  const reduced = constraints.map((constraint) => asOpposite(constraint, constraints));
  for (const constraint of reduced)
    if (
      (constraint.kind === "same" || constraint.kind === "opposite") &&
      !groups.join(constraint.a, constraint.b, constraint.kind === "opposite")
    )
      droppedConstraints += 1;
  const order = [...importances.keys()].sort((a, b) => (importances[b] ?? 0) - (importances[a] ?? 0) || a - b);
  const primaries: number[] = [];
  const variables = new Map<number, { readonly variable: number; readonly parity: boolean }>();
  for (const market of order) {
    const { root, parity } = groups.find(market);
    if (!variables.has(root)) variables.set(root, { variable: primaries.push(market) - 1, parity });
  }
  const literals = importances.map((_, market): Literal => {
    const { root, parity } = groups.find(market);
    const { variable, parity: primaryParity } = variables.get(root) ?? { variable: 0, parity: false };
    return { variable, value: parity === primaryParity };
  });
  const literalOf = (market: number): Literal => {
    const literal = literals[market];
    if (literal === undefined) throw new RangeError(`there is no market ${market}`);
    return literal;
  };
  const exclusions: Exclusion[] = [];
  const clauses: Literal[][] = [];
  for (const constraint of reduced) {
    if (constraint.kind === "exclusive" || constraint.kind === "implies") {
      const a = literalOf(constraint.a);
      const b = constraint.kind === "exclusive" ? literalOf(constraint.b) : negateLiteral(literalOf(constraint.b));
      if (a.variable !== b.variable) exclusions.push({ a, b });
      else if (a.value === b.value) droppedConstraints += 1;
    } else if (constraint.kind === "exhaustive") {
      const clause = constraint.markets.map(literalOf);
      const isTautology = clause.some((a) => clause.some((b) => isSameLiteral(a, negateLiteral(b))));
      if (!isTautology && clause.length > 0) clauses.push(clause);
    }
  }
  return { count: primaries.length, literals, primaries, exclusions, clauses, droppedConstraints };
}

export const negateLiteral = ({ variable, value }: Literal): Literal => ({ variable, value: !value });
export const isSameLiteral = (a: Literal, b: Literal): boolean => a.variable === b.variable && a.value === b.value;

/** Converts an exhaustive constraint of two exclusive markets: exactly one resolves YES, so they are opposite. */
function asOpposite(constraint: LogicalConstraint, constraints: readonly LogicalConstraint[]): LogicalConstraint {
  if (constraint.kind !== "exhaustive" || constraint.markets.length !== 2) return constraint;
  const [a = 0, b = 0] = constraint.markets;
  const isExclusive = constraints.some(
    (other) => other.kind === "exclusive" && ((other.a === a && other.b === b) || (other.a === b && other.b === a)),
  );
  return isExclusive ? { kind: "opposite", a, b } : constraint;
}

/** Union-find with parity: each member has the same value as its root, or the opposite value. */
class ParityGroups {
  readonly #parents: number[];
  /** Whether a member is the opposite of its parent. */
  readonly #parities: boolean[];

  constructor(count: number) {
    this.#parents = Array.from({ length: count }, (_, index) => index);
    this.#parities = new Array<boolean>(count).fill(false);
  }

  find(member: number): { readonly root: number; readonly parity: boolean } {
    let [root, parity] = [member, false];
    for (let parent = this.#parents[root]; parent !== root; parent = this.#parents[root]) {
      if (parent === undefined) throw new RangeError(`there is no market ${member}`);
      parity = parity !== this.#parities[root];
      root = parent;
    }
    return { root, parity };
  }

  /** Returns false if the two members already have the contrary relation. */
  join(a: number, b: number, isOpposite: boolean): boolean {
    const [x, y] = [this.find(a), this.find(b)];
    const parity = (x.parity !== y.parity) !== isOpposite;
    if (x.root === y.root) return !parity;
    this.#parents[y.root] = x.root;
    this.#parities[y.root] = parity;
    return true;
  }
}
