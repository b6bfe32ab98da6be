import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { encodeUnpooled } from "./unpooled-buffer.ts";

test("the bytes are those of the text in UTF-8, and share no memory with other buffers", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const bytes = encodeUnpooled(text);
      assert.deepEqual(bytes, Buffer.from(text));
      assert.equal(bytes.buffer.byteLength, bytes.length);
    }),
  );
});
