import { writeFileSync } from "node:fs";
import { serialize } from "node:v8";
import { constants, zstdCompressSync } from "node:zlib";
import { TEMPLATE_FILE } from "../../../src/adapters/database/store-template/new-store.ts";
import { initializeStore } from "../initialize-store.ts";
import { temporaryFolder } from "../service-process.ts";

/** Program of `npm run store-template`: writes the file from which new embedded stores are unpacked. */
const folder = await temporaryFolder();
const content = serialize(await initializeStore(folder.path));
const compressed = zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: 22 } });
writeFileSync(TEMPLATE_FILE, compressed);
await folder.release();
process.stdout.write(`${compressed.length} bytes\n`);
