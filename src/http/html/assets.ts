import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parse } from "node:path";
import type { FastifyInstance } from "fastify";
import { METERING } from "../../domain/metering.ts";
import { keepCompressed } from "../response/compression.ts";

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
};

/** A file that pages load. It is served from memory. */
export interface Asset {
  readonly url: string;
  readonly type: string;
  readonly content: Buffer;
}

/**
 * Defines an asset. Its URL contains a hash of the content, because browsers may cache the file indefinitely.
 *
 * @example defineAsset("style.css", "body { margin: 0 }").url // "/assets/style-1f0c….css"
 */
export function defineAsset(fileName: string, content: string): Asset {
  const { name, ext } = parse(fileName);
  const type = MEDIA_TYPES[ext];
  if (type === undefined) throw new Error(`The media type of ${fileName} is unknown.`);
  const url = `/assets/${name}-${hash("sha256", content, "hex").slice(0, 16)}${ext}`;
  return { url, type, content: keepCompressed(Buffer.from(content)) };
}

export const loadAsset = (file: URL): Asset => defineAsset(file.pathname, readFileSync(file, "utf8"));

/** Serves assets without authentication. */
export function assetRoutes(app: FastifyInstance, assets: readonly Asset[]): void {
  for (const asset of assets) fileRoute(app, asset, "public, max-age=31536000, immutable");
}

/** Serves a file without authentication. */
export function fileRoute(
  app: FastifyInstance,
  { url, type, content }: Omit<Asset, "content"> & { readonly content: string | Buffer },
  cacheControl: string,
): void {
  app.route({
    method: ["GET", "HEAD"],
    url,
    config: { access: "public", metering: METERING.FREE, cacheControl },
    schema: { hide: true },
    handler: (_request, reply) => reply.type(type).send(content),
  });
}
