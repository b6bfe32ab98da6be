import { runTestGroup } from "./test-group.ts";

runTestGroup([
  "src/board",
  "src/domain",
  "src/engine",
  "src/lib",
  "src/matching",
  "src/quant",
  "src/text",
  "src/trading",
  "src/venues",
  "sandbox",
  "research",
]);
