import { hash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { METERING } from "../../domain/metering.ts";
import { keepCompressed } from "../response/compression.ts";

const MEDIA_TYPES = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
} as const;

/** A file that pages load. It is served from memory. */
export interface Asset {
  readonly url: string;
  readonly type: string;
  readonly content: Buffer;
}

/**
 * Defines an asset. Its URL contains a hash of the content, because browsers may cache the file indefinitely.
 *
 * @example defineAsset("style", "css", "body { margin: 0 }").url // "/assets/style-1f0c….css"
 */
export function defineAsset(name: string, extension: keyof typeof MEDIA_TYPES, content: string): Asset {
  const url = `/assets/${name}-${hash("sha256", content, "hex").slice(0, 16)}.${extension}`;
  return { url, type: MEDIA_TYPES[extension], content: keepCompressed(Buffer.from(content)) };
}

/** Serves assets without authentication. */
export function assetRoutes(app: FastifyInstance, assets: readonly Asset[]): void {
  for (const { url, type, content } of assets)
    app.route({
      method: ["GET", "HEAD"],
      url,
      config: { access: "public", metering: METERING.FREE, cacheControl: "public, max-age=31536000, immutable" },
      schema: { hide: true },
      handler: (_request, reply) => reply.type(type).send(content),
    });
}
