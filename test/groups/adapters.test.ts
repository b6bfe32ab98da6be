import { runTestGroup } from "./test-group.ts";

runTestGroup(["src/adapters", "src/commands", "src/config"]);
