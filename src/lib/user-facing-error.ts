/**
 * An error that the user can fix. Its message explains how and is shown without a stack trace.
 *
 * A common base class, so that the command line recognises these errors without importing the modules that throw them.
 */
export abstract class UserFacingError extends Error {}
