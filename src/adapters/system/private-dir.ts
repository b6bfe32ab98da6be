import { chmod, mkdir, stat } from "node:fs/promises";
import type { Log } from "../../ports/log.ts";

const OWNER_ONLY = 0o700;
const OTHERS = 0o077;
/** Set on directories that several users share, such as /tmp. */
const STICKY = 0o1000;

/**
 * Creates a directory with permissions for its owner only. For an existing directory, removes the permissions of group
 * and others and logs this. If the directory has the sticky bit, or if this process may not change the permissions,
 * they stay unchanged and a warning is logged.
 */
export async function ensurePrivateDir(path: string, log: Log): Promise<void> {
  await mkdir(path, { recursive: true, mode: OWNER_ONLY });
  const { mode } = await stat(path);
  // Windows has no such permissions.
  if ((mode & OTHERS) === 0 || process.platform === "win32") return;
  const fields = { path, mode: formatMode(mode) };
  try {
    if ((mode & STICKY) !== 0) throw new Error("the directory is shared by several users");
    await chmod(path, OWNER_ONLY);
    log.warn(fields, "directory was accessible to other users; its permissions are now 0700");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.warn({ ...fields, reason }, "directory is accessible to other users and its permissions cannot be changed");
  }
}

const formatMode = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, "0");
