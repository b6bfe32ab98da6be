/**
 * An error that the user can fix. The command line prints its message without a stack trace. It recognises this base
 * class without loading the modules that throw it.
 */
export abstract class UserFacingError extends Error {}
