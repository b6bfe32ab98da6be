import type { Transform } from "node:stream";
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";

/**
 * Minimum size of bodies that are compressed for each response. Compressing smaller bodies costs more than it saves.
 */
const COMPRESS_FROM_BYTES = 8 * 1024;
/** Minimum size of bodies that are compressed once. */
const COMPRESS_ONCE_FROM_BYTES = 512;
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 5;
/**
 * Base-2 logarithm of the window for streams: 256 KiB. The default window takes megabytes for as long as a client
 * reads.
 */
const BROTLI_STREAM_WINDOW = 18;
const ACCEPT_ENCODING_LENGTH_MAX = 512;

export type Encoding = "br" | "gzip";

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/**
 * Returns the content encoding for an Accept-Encoding header (RFC 9110), or null for no encoding. Prefers Brotli at
 * equal weight.
 */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding | null {
  if (acceptEncoding === undefined || acceptEncoding.length > ACCEPT_ENCODING_LENGTH_MAX) return null;
  const weights = new Map<string, number>();
  for (const entry of acceptEncoding.toLowerCase().split(",")) {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    const value = weight === undefined ? 1 : Number(weight.slice(2));
    weights.set(name, Number.isFinite(value) ? value : 0);
  }
  const wildcardWeight = weights.get("*") ?? 0;
  const brotliWeight = weights.get("br") ?? wildcardWeight;
  const gzipWeight = weights.get("gzip") ?? wildcardWeight;
  if (brotliWeight <= 0 && gzipWeight <= 0) return null;
  return brotliWeight >= gzipWeight ? "br" : "gzip";
}

/** Whether compression reduces bodies of this content type. */
export function isCompressible(contentType: string): boolean {
  return /^(?:application\/(?:json|javascript)|text\/(?!event-stream)|image\/svg)/.test(contentType);
}

/** Compressed forms of bodies that never change. Other bodies are compressed for every response. */
const keptForms = new WeakMap<Buffer, Partial<Record<Encoding, Promise<Buffer>>>>();

/** Marks a body that never changes, so that it is compressed once per encoding. Returns the body. */
export function keepCompressed(body: Buffer): Buffer {
  keptForms.set(body, {});
  return body;
}

/** Whether a body is large enough to be compressed. */
export function isWorthCompressing(body: string | Buffer): boolean {
  if (typeof body !== "string" && keptForms.has(body)) return body.length >= COMPRESS_ONCE_FROM_BYTES;
  // A UTF-16 code unit takes at most three bytes, so the length decides for most strings without a byte count.
  if (body.length >= COMPRESS_FROM_BYTES) return true;
  return body.length * 3 >= COMPRESS_FROM_BYTES && Buffer.byteLength(body) >= COMPRESS_FROM_BYTES;
}

/** Compresses off the main thread. */
export function compress(body: Buffer, encoding: Encoding): Promise<Buffer> {
  const forms = keptForms.get(body);
  if (forms === undefined) return compressOnce(body, encoding);
  forms[encoding] ??= compressOnce(body, encoding);
  return forms[encoding];
}

/** Creates a stream that compresses off the main thread, only as fast as its output is read. */
export function createCompressor(encoding: Encoding): Transform {
  if (encoding === "gzip") return createGzip({ level: GZIP_LEVEL });
  return createBrotliCompress({
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: BROTLI_STREAM_WINDOW,
    },
  });
}

function compressOnce(body: Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === "gzip"
    ? gzipAsync(body, { level: GZIP_LEVEL })
    : brotliAsync(body, {
        params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
      });
}
