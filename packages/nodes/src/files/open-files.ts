import { type FileService, isJsonArray, type JsonValue, type OpenFile } from '@millrace/engine';
import { message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { typeName } from '@millrace/node-kit/values';

const MAX_FILES = 1_000;

/**
 * The files of a node's setting `files`.
 * @throws NodeProblem, ServiceError
 */
export async function openFiles(value: JsonValue, files: FileService): Promise<readonly OpenFile[]> {
  const setting = 'files';
  if (!isJsonArray(value)) {
    throw new NodeProblem(message('nodes.files_not_list', { setting, given: typeName(value) }));
  }
  if (value.length > MAX_FILES) {
    throw new NodeProblem(message('nodes.too_many_files', { setting, max: MAX_FILES }));
  }
  const opened: OpenFile[] = [];
  for (const each of value) opened.push(await files.open(each));
  return opened;
}
