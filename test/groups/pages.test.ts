import { runTestGroup } from "./test-group.ts";

runTestGroup(["test/pages"]);
