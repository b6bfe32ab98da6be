/**
 * A failure that a person can mend. Its message is made to be shown and says how; a stack beside it would only hide it.
 *
 * One ancestor for all, so that the command line knows them without loading what may throw them.
 */
export abstract class UserFacingError extends Error {}
