/** Sign-in links and sessions. `account-pages` requests and sends the links. */
export { endOtherSessions, endSessions } from "./queries.ts";
export {
  createSessions,
  REAUTHENTICATION_MS,
  SESSION_MS_MAX,
  type Session,
  type Sessions,
  type SessionView,
  SIGN_IN_LINK_MS,
} from "./sessions.ts";
