import { type PGlite, parse, protocol } from "@electric-sql/pglite";

const { serialize } = protocol;

/** Maximum number of remembered texts. Each prepared statement needs about 50 kB of the engine's memory. */
const STATEMENTS_MAX = 200;
/** SQLSTATE if an altered table has changed the result columns of a prepared statement. It has other causes as well. */
const FEATURE_NOT_SUPPORTED = "0A000";

type Message = Awaited<ReturnType<PGlite["execProtocolStream"]>>[number];

interface PreparedStatement {
  readonly name: string;
  readonly parameterTypes: readonly number[];
  /** Describes the columns of the result; undefined if the statement returns no rows. */
  readonly rowDescription: Message | undefined;
}

type Rows = Record<string, unknown>[];

/**
 * Returns a function that runs a statement and returns its rows. From its second use on, a statement is prepared: the
 * engine keeps it parsed and, if PostgreSQL's cost estimate allows it, planned. Parsing and planning need most of the
 * CPU time of a small statement (decision 28). The least recently used statements are removed.
 */
export function createStatementRunner(engine: PGlite) {
  /** By text, least recently used first; null for a statement that was used once. */
  const statements = new Map<string, PreparedStatement | null>();
  let preparedCount = 0;

  // `query` of PGlite sends each of these messages alone, which costs as much as running a small statement.
  const send = (...messages: Uint8Array[]) =>
    engine.execProtocolStream(Buffer.concat([...messages, serialize.sync()]), { syncToFs: false });

  const prepare = async (text: string): Promise<PreparedStatement> => {
    const name = `parallax_${preparedCount++}`;
    const messages = await send(serialize.parse({ name, text }), serialize.describe({ type: "S", name }));
    return {
      name,
      parameterTypes: parse.parseDescribeStatementResults(messages),
      rowDescription: messages.find((message) => message.name === "rowDescription"),
    };
  };

  const execute = async (statement: PreparedStatement, parameters: readonly unknown[]): Promise<Rows> => {
    const { name, parameterTypes, rowDescription } = statement;
    const values = parameters.map((value, index) => {
      if (value === null || value === undefined) return null;
      return engine.serializers[parameterTypes[index] ?? -1]?.(value) ?? String(value);
    });
    const messages = await send(serialize.bind({ statement: name, values }), serialize.execute({}));
    if (rowDescription === undefined) return [];
    const [result] = parse.parseResults([rowDescription, ...messages], engine.parsers);
    return (result?.rows ?? []) as Rows;
  };

  const runOnce = async (text: string, parameters: readonly unknown[]): Promise<Rows> =>
    (await engine.query<Rows[number]>(text, [...parameters])).rows;

  const forget = async (text: string): Promise<void> => {
    const statement = statements.get(text) ?? null;
    statements.delete(text);
    if (statement !== null) await send(serialize.close({ type: "S", name: statement.name }));
  };

  const remember = async (text: string, statement: PreparedStatement | null): Promise<void> => {
    statements.delete(text);
    statements.set(text, statement);
    const [oldest] = statements.keys();
    if (statements.size > STATEMENTS_MAX && oldest !== undefined) await forget(oldest);
  };

  return async (text: string, parameters: readonly unknown[]): Promise<Rows> => {
    const known = statements.get(text);
    if (known === undefined) {
      // Before the statement runs: if this fails, the statement has had no effect.
      await remember(text, null);
      return runOnce(text, parameters);
    }
    const statement = known ?? (await prepare(text));
    await remember(text, statement);
    try {
      return await execute(statement, parameters);
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== FEATURE_NOT_SUPPORTED) throw error;
      await forget(text);
      // In a transaction, which has failed, this fails as well.
      return runOnce(text, parameters).catch(() => {
        throw error;
      });
    }
  };
}
