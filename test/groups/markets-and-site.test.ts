import { runTestGroup } from "./test-group.ts";

runTestGroup(["src/capabilities/markets", "src/capabilities/operations", "src/capabilities/site", "src/app"]);
