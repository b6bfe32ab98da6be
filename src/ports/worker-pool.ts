/**
 * Runs the function `runTask` of one module on worker threads. Tasks and results are copied by structured clone, except
 * their array buffers, which are transferred: the sender can no longer use them.
 */
export interface WorkerPool<Task, Result> {
  /**
   * @param transfer  buffers of the task; they cannot be used afterwards
   * @throws AppError `overloaded` if too many tasks are waiting; Error if the task fails or takes too long
   */
  run(task: Task, transfer: readonly ArrayBuffer[]): Promise<Result>;
  /** Ends the threads. Tasks that are not finished fail. */
  close(): Promise<void>;
}

export interface WorkerModule<Task, Result> {
  runTask(task: Task): { readonly result: Result; readonly transfer: readonly ArrayBuffer[] };
}

/** Creates a pool for a module. Its threads start with the first task. */
export type OpenWorkerPool = <Task, Result>(module: URL) => WorkerPool<Task, Result>;
