import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import { METERING } from "../domain/metering.ts";
import { keepCompressed } from "./response/compression.ts";
import { weakEntityTag } from "./response/conditional.ts";

const DOCS_PREFIX = "/docs";
const SCRIPT_TYPE = "text/javascript; charset=utf-8";
const STYLESHEET_TYPE = "text/css; charset=utf-8";

const PAGE = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Parallax</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${DOCS_PREFIX}/static/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="${DOCS_PREFIX}/static/swagger-ui-bundle.js"></script>
<script src="${DOCS_PREFIX}/static/start.js"></script>
</body>
</html>
`;
const START_SCRIPT = `SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  docExpansion: "list",
  validatorUrl: null,
});
`;

/** Serves Swagger UI from memory: a file per response would let slow clients hold any number of file descriptors. */
export async function installDocs(app: FastifyInstance): Promise<void> {
  const [script, stylesheet] = await Promise.all([
    readFile(fileURLToPath(import.meta.resolve("@fastify/swagger-ui/static/swagger-ui-bundle.js"))),
    readFile(fileURLToPath(import.meta.resolve("@fastify/swagger-ui/static/swagger-ui.css"))),
  ]);
  const serve = (url: string, type: string, content: Buffer) => {
    const body = keepCompressed(content);
    const entityTag = weakEntityTag(body);
    app.get(url, { config: { access: "public", metering: METERING.FREE }, schema: { hide: true } }, (_request, reply) =>
      reply.header("etag", entityTag).type(type).send(body),
    );
  };
  for (const url of [DOCS_PREFIX, `${DOCS_PREFIX}/`]) serve(url, "text/html; charset=utf-8", Buffer.from(PAGE));
  serve(`${DOCS_PREFIX}/static/swagger-ui-bundle.js`, SCRIPT_TYPE, script);
  serve(`${DOCS_PREFIX}/static/start.js`, SCRIPT_TYPE, Buffer.from(START_SCRIPT));
  serve(`${DOCS_PREFIX}/static/swagger-ui.css`, STYLESHEET_TYPE, stylesheet);
}
