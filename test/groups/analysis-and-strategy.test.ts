import { runTestGroup } from "./test-group.ts";

runTestGroup(["src/capabilities/analysis", "src/capabilities/strategy"]);
