/**
 * Encodes a text as UTF-8 in memory of its own. Use it for bytes that are kept: `Buffer.from` takes small buffers from a
 * shared block of 64 KiB, and a kept buffer keeps its whole block.
 */
export function encodeUnpooled(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
