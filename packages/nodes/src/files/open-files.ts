import { type FileService, isJsonArray, type JsonValue, type OpenFile } from '@millrace/engine';
import { message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { typeName } from '@millrace/node-kit/values';

const MAX_FILES = 1_000;

/**
 * A list of files.
 * @param setting its name
 * @throws NodeProblem, ServiceError
 */
export async function openFiles(
  value: JsonValue,
  setting: string,
  files: FileService,
): Promise<readonly OpenFile[]> {
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
