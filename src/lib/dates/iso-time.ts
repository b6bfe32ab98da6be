/** Formats Unix milliseconds as ISO 8601 in UTC. @example toIso(0) // "1970-01-01T00:00:00.000Z" */
export const toIso = (at: number): string => new Date(at).toISOString();
