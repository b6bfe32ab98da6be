/**
 * An error that the user can fix. The command line prints its message without a stack trace.
 *
 * The base class lives here so that the command line can recognise it without loading the modules that throw it.
 */
export abstract class UserFacingError extends Error {}
