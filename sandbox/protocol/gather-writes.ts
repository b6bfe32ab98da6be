import type { Duplex } from "node:stream";

/**
 * Combines all frames sent in one event-loop iteration into one write. When the prices of many markets change, one
 * frame per market is sent, and separate writes would cost more than creating the frames.
 */
export function gatherWrites(socket: Duplex): void {
  const cork = socket.cork.bind(socket);
  let isCorked = false;
  // `ws` calls `cork` before each frame.
  socket.cork = () => {
    cork();
    if (isCorked) return;
    isCorked = true;
    // The second cork delays the write until the next tick.
    cork();
    process.nextTick(() => {
      isCorked = false;
      socket.uncork();
    });
  };
}
