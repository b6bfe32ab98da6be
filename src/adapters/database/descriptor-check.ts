import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";

/** Returns whether this process can open `count` more files, by opening and closing them synchronously. */
export function canOpenFiles(count: number): boolean {
  const descriptors: number[] = [];
  try {
    while (descriptors.length < count) descriptors.push(openSync(devNull, "r"));
    return true;
  } catch (error) {
    // Other errors are unrelated to the number of open files.
    return !["EMFILE", "ENFILE"].includes((error as NodeJS.ErrnoException).code ?? "");
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}
