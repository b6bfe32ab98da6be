import type { Duplex } from "node:stream";

/**
 * Combines all frames sent in one event-loop iteration into one write. A price change of many markets sends one frame per
 * market; writing them separately costs more than the frames themselves.
 */
export function gatherWrites(socket: Duplex): void {
  const cork = socket.cork.bind(socket);
  let isCorked = false;
  // `ws` calls cork before each frame.
  socket.cork = () => {
    cork();
    if (isCorked) return;
    isCorked = true;
    // A second cork, undone on the next tick, holds back the write.
    cork();
    process.nextTick(() => {
      isCorked = false;
      socket.uncork();
    });
  };
}
