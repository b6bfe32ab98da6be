/** Returns SQL that converts a parameter with Unix milliseconds to a timestamp. */
export const toTimestampSql = (parameter: string) => `to_timestamp(${parameter}::float8 / 1000)`;

/** Returns SQL that converts a timestamp to Unix milliseconds. */
export const toMillisSql = (timestamp: string) => `(extract(epoch from ${timestamp}) * 1000)::float8`;
