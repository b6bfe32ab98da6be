/**
 * An error that the user can fix. The command line prints its message without a stack trace. The class has its own
 * module so that the command line need not load the modules that throw it.
 */
export abstract class UserFacingError extends Error {}
