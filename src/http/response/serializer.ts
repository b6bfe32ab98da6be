import fastJsonStringify, { type AnySchema } from "fast-json-stringify";
import type { FastifySerializerCompiler } from "fastify";

/**
 * Compiles the schema of a response when the route first sends one. The service has about 100 of these schemas, and most
 * are not used in the first minutes. `app.test.ts` compiles them all.
 */
export const compileSerializer: FastifySerializerCompiler<AnySchema> = ({ schema }) => {
  let serialize: ((value: unknown) => string) | null = null;
  return (value) => {
    serialize ??= fastJsonStringify(schema);
    return serialize(value);
  };
};
