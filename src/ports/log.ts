export type LogFields = Readonly<Record<string, unknown>>;

/** Structured log. Never pass a key, token, secret, header or URL with credentials. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  /** Returns a log that adds `fields` to every line. */
  child(fields: LogFields): Log;
}
