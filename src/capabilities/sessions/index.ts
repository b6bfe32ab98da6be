/** Sign-in links and the sessions that they begin. Who asks for a link and where it is shown is the business of `account`. */
export { endSessions } from "./queries.ts";
export {
  createSessions,
  LINK_MS,
  PROOF_MS,
  SESSION_MS_MAX,
  type Session,
  type Sessions,
  type SessionView,
} from "./sessions.ts";
