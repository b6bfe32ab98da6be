import type { FastifyInstance, FastifyRequest } from "fastify";
import { UnreadableBody } from "./validation/index.ts";
import { parseJson } from "./validation/json.ts";

/** Accepts JSON bodies only; other content types are rejected with 415. */
export function installBodyParsers(app: FastifyInstance): void {
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const parse = (
    _request: FastifyRequest,
    bytes: Buffer,
    done: (error: Error | null, body?: unknown) => void,
  ): void => {
    done(null, readJson(bytes, utf8));
  };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, parse);
  app.addContentTypeParser(/^application\/[\w.-]+\+json\b/, { parseAs: "buffer" }, parse);
}

/**
 * An empty body counts as absent. A parse error is returned as a value, because it must be reported as a 422 after the
 * rate limit check.
 */
function readJson(bytes: Buffer, utf8: InstanceType<typeof TextDecoder>): unknown {
  if (bytes.length === 0) return undefined;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return new UnreadableBody(0, "Invalid UTF-8");
  }
  const result = parseJson(text);
  return result.ok ? result.value : new UnreadableBody(result.position, result.error);
}
