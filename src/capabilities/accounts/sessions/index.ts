/** Sign-in links and sessions. Requesting and delivering links is the responsibility of `account`. */
export { endOtherSessions, endSessions } from "./queries.ts";
export {
  createSessions,
  LINK_MS,
  PROOF_MS,
  SESSION_MS_MAX,
  type Session,
  type Sessions,
  type SessionView,
} from "./sessions.ts";
