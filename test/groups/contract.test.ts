import { runTestGroup } from "./test-group.ts";

runTestGroup(["test/contract", "test/matching"]);
