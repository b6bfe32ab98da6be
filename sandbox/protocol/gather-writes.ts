import type { Duplex } from "node:stream";

/**
 * From now on what is sent on this connection within one go of the event loop leaves in one write. Many prices change at
 * once, each in a frame of its own; a write for each would cost sender and reader more than the frames do.
 */
export function gatherWrites(socket: Duplex): void {
  const hold = socket.cork.bind(socket);
  let isHeld = false;
  // `ws` corks the connection around each frame's head and body.
  socket.cork = () => {
    hold();
    if (isHeld) return;
    isHeld = true;
    hold();
    process.nextTick(() => {
      isHeld = false;
      socket.uncork();
    });
  };
}
