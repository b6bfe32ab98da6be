import { runTestGroup } from "./test-group.ts";

runTestGroup(["src/ingest", "src/storage", "src/recording"]);
