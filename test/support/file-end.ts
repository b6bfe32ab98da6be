import { AsyncLocalStorage } from "node:async_hooks";
import { after } from "node:test";

type Task = () => unknown;

/** The tasks of the test file that runs in a test group. A file that runs alone has the tasks of its process. */
const tasksOfFile = new AsyncLocalStorage<Task[]>();
const tasksOfProcess: Task[] = [];

async function runTasks(tasks: Task[]): Promise<void> {
  for (const task of tasks.splice(0).reverse()) await task();
}

after(() => runTasks(tasksOfProcess));

/**
 * Calls `task` after the last test of the file, the last registered task first. Use this instead of `after` in code that
 * several test files share: `after` outside a test file would wait for the last file of a group.
 */
export function atFileEnd(task: Task): void {
  (tasksOfFile.getStore() ?? tasksOfProcess).push(task);
}

/** Calls `task` after the last file of the process, before what was registered earlier, for example before a database closes. */
export function atProcessEnd(task: Task): void {
  tasksOfProcess.push(task);
}

/** Imports a test file into the current suite. Its tasks run at the end of the suite. */
export async function loadTestFile(path: string): Promise<void> {
  const tasks: Task[] = [];
  await tasksOfFile.run(tasks, () => import(path));
  after(() => runTasks(tasks));
}
