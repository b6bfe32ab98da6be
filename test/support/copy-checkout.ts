import { cp, symlink } from "node:fs/promises";
import { basename, join } from "node:path";

const PROJECT = new URL("../..", import.meta.url).pathname;

/**
 * Copies the checkout to a new folder, to plant errors where no other program reads them. The packages are a link.
 *
 * @param folder  path of the copy; it must not exist
 */
export async function copyCheckout(folder: string): Promise<void> {
  const isCopied = (path: string) => !["node_modules", ".git", ".parallax"].includes(basename(path));
  await cp(PROJECT, folder, { recursive: true, filter: isCopied });
  await symlink(join(PROJECT, "node_modules"), join(folder, "node_modules"));
}
