/** Returns SQL that converts a parameter with Unix milliseconds to a timestamp. */
export const time = (parameter: string) => `to_timestamp(${parameter}::float8 / 1000)`;

/** Returns SQL that converts a timestamp to Unix milliseconds. */
export const millis = (timestamp: string) => `(extract(epoch from ${timestamp}) * 1000)::float8`;
