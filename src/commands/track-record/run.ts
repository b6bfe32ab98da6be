import { systemClock } from "../../adapters/system/system-clock.ts";
import { verifyShadowBook } from "../../capabilities/strategy/track-record/index.ts";
import type { OperatorProgram } from "../operator/run.ts";
import { parseTrackRecordCommand, type TrackRecordContext } from "./commands.ts";

export const TRACK_RECORD_PROGRAM: OperatorProgram<TrackRecordContext> = {
  parse: parseTrackRecordCommand,
  open: (database) => ({ verify: () => verifyShadowBook(database, systemClock.now()) }),
};
