import { runTestGroup } from "./test-group.ts";

runTestGroup(["src/capabilities/events", "src/event-log", "src/http"]);
