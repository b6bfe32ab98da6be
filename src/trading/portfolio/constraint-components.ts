import type { Exclusion, Literal, Variables } from "./logical-constraints.ts";

/** Maximum number of assignments of one component, and of steps to enumerate them. */
const ASSIGNMENTS_MAX = 4_096;
const STEPS_MAX = 200_000;
const SWEEPS_MAX = 500;
/**
 * If the marginals have not converged after this number of sweeps, they contradict the constraints. Each further sweep
 * makes a smaller correction, so that the fit converges to a compromise.
 */
const FULL_SWEEPS = 250;
const FIT_TOLERANCE = 1e-12;

/** A connected component of the constraint graph, with its feasible assignments. */
export interface ConstraintComponent {
  /** The most important variable first: the representative. */
  readonly variables: readonly number[];
  /** Feasible values in the order of `variables`. Assignments with a true representative come first. */
  readonly assignments: readonly (readonly boolean[])[];
  /** Probabilities of the assignments; they sum to 1. */
  readonly probabilities: readonly number[];
}

/**
 * Splits the constraint graph into connected components, and enumerates the feasible assignments of each component.
 *
 * The probability of an assignment starts as the product of its marginals. Iterative proportional fitting then restores
 * the marginals. The marginal of the representative is fitted last, so it is exact even if the marginals contradict the
 * constraints. In that case, the other marginals are a compromise that does not depend on their order.
 *
 * If a component has more than 4,096 assignments, or a variable has the same value in all of them, the constraints of
 * the least important variable are dropped.
 *
 * @param marginals  probability of true, by variable, in (0, 1)
 * @param similarity  correlation of two variables; orders the assignments in which the representative has the same
 *   value
 */
export function buildComponents(
  { count, exclusions, clauses }: Pick<Variables, "count" | "exclusions" | "clauses">,
  marginals: readonly number[],
  similarity: (a: number, b: number) => number,
): { readonly blocks: readonly ConstraintComponent[]; readonly droppedConstraints: number } {
  let constraints = { exclusions, clauses };
  const blocks: ConstraintComponent[] = [];
  const done = new Set<number>();
  for (let variable = 0; variable < count; variable++) {
    if (done.has(variable)) continue;
    let variables = connectedTo(variable, constraints);
    let assignments = enumerate(variables, constraints);
    while (assignments === null) {
      const last = variables.at(-1) ?? variable;
      constraints = {
        exclusions: constraints.exclusions.filter(({ a, b }) => a.variable !== last && b.variable !== last),
        clauses: constraints.clauses.filter((clause) => clause.every((literal) => literal.variable !== last)),
      };
      variables = connectedTo(variable, constraints);
      assignments = enumerate(variables, constraints);
    }
    for (const member of variables) done.add(member);
    blocks.push(fit(variables, sortAssignments(variables, assignments, similarity), marginals));
  }
  const kept = constraints.exclusions.length + constraints.clauses.length;
  return { blocks, droppedConstraints: exclusions.length + clauses.length - kept };
}

interface Constraints {
  readonly exclusions: readonly Exclusion[];
  readonly clauses: readonly (readonly Literal[])[];
}

/** Returns the variables in the component of a variable, in ascending order. A lower number is more important. */
function connectedTo(variable: number, { exclusions, clauses }: Constraints): number[] {
  const found = new Set([variable]);
  const groups = [...exclusions.map(({ a, b }) => [a, b]), ...clauses];
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const group of groups)
      if (group.some((literal) => found.has(literal.variable)))
        for (const literal of group) found.add(literal.variable);
  }
  return [...found].sort((a, b) => a - b);
}

/** Returns the feasible assignments; null if there are too many, or if a variable has the same value in all of them. */
function enumerate(variables: readonly number[], { exclusions, clauses }: Constraints): boolean[][] | null {
  if (variables.length === 1 && exclusions.length + clauses.length === 0) return [[true], [false]];
  const positions = new Map(variables.map((variable, position) => [variable, position]));
  const positionOf = ({ variable }: Literal): number => positions.get(variable) ?? -1;
  // An exclusion is checked when the later of its two variables is assigned.
  const checks: { readonly other: number; readonly otherValue: boolean; readonly value: boolean }[][] = variables.map(
    () => [],
  );
  for (const { a, b } of exclusions) {
    if (positionOf(a) === -1) continue;
    const [first, second] = positionOf(a) < positionOf(b) ? [a, b] : [b, a];
    checks[positionOf(second)]?.push({ other: positionOf(first), otherValue: first.value, value: second.value });
  }
  const ownClauses = clauses.filter((clause) => clause.every((literal) => positions.has(literal.variable)));
  const assignments: boolean[][] = [];
  const current: boolean[] = [];
  let steps = 0;
  const extend = (position: number): boolean => {
    steps += 1;
    if (steps > STEPS_MAX || assignments.length > ASSIGNMENTS_MAX) return false;
    if (position === variables.length) {
      if (ownClauses.every((clause) => clause.some((literal) => current[positionOf(literal)] === literal.value)))
        assignments.push([...current]);
      return true;
    }
    for (const value of [true, false]) {
      const isExcluded = checks[position]?.some(
        (check) => check.value === value && current[check.other] === check.otherValue,
      );
      if (isExcluded === true) continue;
      current[position] = value;
      if (!extend(position + 1)) return false;
    }
    return true;
  };
  if (!extend(0) || assignments.length > ASSIGNMENTS_MAX) return null;
  const isOpen = variables.every((_, position) =>
    [true, false].every((value) => assignments.some((assignment) => assignment[position] === value)),
  );
  return isOpen ? assignments : null;
}

/** Orders assignments by the representative, then by the sum of the true variables' correlations with it. */
function sortAssignments(
  variables: readonly number[],
  assignments: readonly boolean[][],
  similarity: (a: number, b: number) => number,
): boolean[][] {
  const [representative = 0] = variables;
  const weights = variables.map((variable, position) => (position === 0 ? 0 : similarity(representative, variable)));
  const scoreOf = (assignment: readonly boolean[]) =>
    assignment.reduce((sum, value, position) => sum + (value ? (weights[position] ?? 0) : 0), 0);
  return assignments
    .map((assignment) => ({ assignment, score: scoreOf(assignment) }))
    .sort((a, b) => Number(b.assignment[0]) - Number(a.assignment[0]) || b.score - a.score)
    .map(({ assignment }) => assignment);
}

function fit(
  variables: readonly number[],
  assignments: boolean[][],
  marginals: readonly number[],
): ConstraintComponent {
  const probabilities = assignments.map((assignment) =>
    assignment.reduce((product, value, position) => {
      const marginal = marginals[variables[position] ?? 0] ?? 0;
      return product * (value ? marginal : 1 - marginal);
    }, 1),
  );
  const answers = variables.map((_, position) => Uint8Array.from(assignments, (values) => (values[position] ? 1 : 0)));
  /**
   * Scales the probabilities of the assignments, so that the marginal of a variable moves towards its target.
   *
   * @param power  in (0, 1]; 1 reaches the target
   * @returns the absolute error of the marginal before the move
   */
  const adjust = (position: number, power: number): number => {
    const marginal = marginals[variables[position] ?? 0] ?? 0;
    const values = answers[position] as Uint8Array;
    let [yes, no] = [0, 0];
    for (let index = 0; index < values.length; index++)
      if (values[index] === 1) yes += probabilities[index] as number;
      else no += probabilities[index] as number;
    const [scaleYes, scaleNo] = [(marginal / yes) ** power, ((1 - marginal) / no) ** power];
    for (let index = 0; index < values.length; index++)
      probabilities[index] = (probabilities[index] as number) * (values[index] === 1 ? scaleYes : scaleNo);
    return Math.abs(yes / (yes + no) - marginal);
  };
  for (let sweep = 0; sweep < SWEEPS_MAX; sweep++) {
    const power = 1 / Math.max(1, sweep - FULL_SWEEPS);
    let error = 0;
    for (let position = variables.length - 1; position >= 0; position--)
      error = Math.max(error, adjust(position, power));
    if (error < FIT_TOLERANCE) break;
  }
  adjust(0, 1);
  return { variables, assignments, probabilities };
}
