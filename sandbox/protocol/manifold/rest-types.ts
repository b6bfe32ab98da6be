/** Registers GET `path` below the base paths; what `answer` throws as `ApiError` is the reply. */
export type Get = (path: string, answer: (query: unknown, params: Readonly<Record<string, string>>) => unknown) => void;
