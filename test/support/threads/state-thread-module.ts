import type { StateThreadModule } from "../../../src/ports/state-thread.ts";

export type CounterRequest =
  | { readonly kind: "add"; readonly value: number }
  | { readonly kind: "throw" }
  | { readonly kind: "exit" }
  | { readonly kind: "loop" }
  | { readonly kind: "allocate" };

/** Module of a state thread: adds numbers, fails, ends its thread, never responds or allocates without limit. */
export const createHandler: StateThreadModule<CounterRequest, number>["createHandler"] = () => {
  let sum = 0;
  const garbage: number[][] = [];
  return (request) => {
    if (request.kind === "throw") throw new Error("the request failed");
    if (request.kind === "exit") process.exit(3);
    while (request.kind === "loop");
    while (request.kind === "allocate") garbage.push(Array.from({ length: 10_000 }, (_, index) => index + sum));
    if (request.kind === "add") sum += request.value;
    return sum;
  };
};
