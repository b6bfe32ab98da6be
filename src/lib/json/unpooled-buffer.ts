/**
 * Encodes a text as UTF-8 in a buffer that is not pooled. Use it for bytes that stay in memory: `Buffer.from` allocates
 * small buffers in a pool of 64 KiB, which stays in memory as long as one of its buffers.
 */
export function encodeUnpooled(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
