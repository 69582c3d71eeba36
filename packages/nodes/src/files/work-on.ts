import type { ContentTask, JsonObject, NodeContext, OpenFile } from '@millrace/engine';

/** Has a node's task done; what it makes belongs to the execution. @throws ServiceError */
export function workOn(
  task: ContentTask,
  inputs: readonly OpenFile[],
  timeoutMs: number,
  { contents, files, signal }: NodeContext,
): Promise<JsonObject> {
  return contents.work(
    { task, inputs, save: (file, content) => files.save(file, content), timeoutMs },
    signal,
  );
}
