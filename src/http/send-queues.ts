import { fstatSync } from "node:fs";
import { open } from "node:fs/promises";
import type { Socket } from "node:net";

/** Linux lists the connections in these files, each with the number of bytes that the client has not acknowledged. */
const CONNECTION_LISTS = ["/proc/net/tcp", "/proc/net/tcp6"];
/** Maximum length of a list: 27,000 connections of about 150 bytes each. A longer list is not used. */
const LIST_BYTES_MAX = 4 * 1024 * 1024;
const READ_BYTES = 64 * 1024;
/** Positions of the columns in a line, for example `00000A3F:00000000` and `184213`. */
const QUEUES_COLUMN = 4;
const INODE_COLUMN = 9;

/** Member of Node's sockets that its types omit. */
interface SocketInternals {
  readonly _handle?: { readonly fd?: number } | null;
}

/**
 * Returns the number of bytes per connection that the kernel has accepted and the client has not acknowledged. Omits a
 * connection if its number is unknown: on systems other than Linux, and while there are too many connections to list.
 *
 * @param lists  paths of files in the format of `/proc/net/tcp`
 */
export async function readSendQueues(
  sockets: Iterable<Socket>,
  lists: readonly string[] = CONNECTION_LISTS,
): Promise<Map<Socket, number>> {
  const socketsByInode = new Map<string, Socket>();
  for (const socket of sockets) {
    const inode = inodeOf(socket);
    if (inode !== null) socketsByInode.set(inode, socket);
  }
  const queues = new Map<Socket, number>();
  if (socketsByInode.size === 0) return queues;
  for (const path of lists) {
    for (const line of (await readList(path)).split("\n")) {
      const columns = line.trimStart().split(/ +/, INODE_COLUMN + 1);
      const socket = socketsByInode.get(columns[INODE_COLUMN] ?? "");
      if (socket === undefined) continue;
      const unacknowledged = Number.parseInt(columns[QUEUES_COLUMN] ?? "", 16);
      if (!Number.isNaN(unacknowledged)) queues.set(socket, unacknowledged);
    }
  }
  return queues;
}

/** Returns the number by which the kernel identifies a connection; null if it is closed or the system has none. */
function inodeOf(socket: Socket): string | null {
  const fd = (socket as SocketInternals)._handle?.fd;
  if (process.platform !== "linux" || fd === undefined || fd < 0) return null;
  try {
    return String(fstatSync(fd).ino);
  } catch {
    return null;
  }
}

/**
 * Returns an empty text if the list does not exist or is too long. The kernel does not report its length in advance.
 */
async function readList(path: string): Promise<string> {
  const file = await open(path).catch(() => null);
  if (file === null) return "";
  try {
    const chunks: Buffer[] = [];
    for (let length = 0; length <= LIST_BYTES_MAX; ) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, null);
      if (bytesRead === 0) return Buffer.concat(chunks).toString("latin1");
      chunks.push(buffer.subarray(0, bytesRead));
      length += bytesRead;
    }
    return "";
  } catch {
    return "";
  } finally {
    await file.close();
  }
}
