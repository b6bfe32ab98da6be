import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";

/** Returns the next message of a child process. Rejects if the process exits first. */
export const receiveMessage = <Message>(child: ChildProcess): Promise<Message> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`The process ended with exit code ${code}`));
    child.once("exit", onExit);
    child.once("message", (message) => {
      child.off("exit", onExit);
      resolve(message as Message);
    });
  });

/** Sends a message to a child process and returns its reply. */
export function requestMessage<Message>(child: ChildProcess, request: string | object): Promise<Message> {
  const reply = receiveMessage<Message>(child);
  child.send(request);
  return reply;
}

/** Sends the signal and waits until the child process has exited. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

/** Starts programs of the folder `programs`. `killAll` kills those that are running. */
export function createProgramStarter() {
  const children = new Set<ChildProcess>();
  return {
    start(name: string, args: readonly (string | number)[]): ChildProcess {
      const child = fork(new URL(`../programs/${name}.ts`, import.meta.url), args.map(String));
      children.add(child);
      child.once("exit", () => children.delete(child));
      return child;
    },
    killAll() {
      for (const child of children) child.kill("SIGKILL");
    },
  };
}

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}
