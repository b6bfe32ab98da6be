import { runTestGroup } from "./test-group.ts";

runTestGroup(["src/capabilities/accounts"]);
