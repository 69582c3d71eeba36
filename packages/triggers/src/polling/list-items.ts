import { createHash } from 'node:crypto';
import { canonicalJson, isJsonArray, type JsonValue, type PolledItem, readField } from '@millrace/engine';
import { message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { scalarText, typeName } from '@millrace/node-kit/values';
import { MAX_LISTED } from './config.ts';

/** Where the items are in a response, and what tells them apart. */
export interface ListPaths {
  /** Path of the list; empty for the whole body. */
  readonly list_path: string;
  /** Path of the id in an item; empty: an item is new whenever anything in it has changed. */
  readonly id_path: string;
}

/**
 * The items of a list in a response.
 * @throws NodeProblem when there is no list, it is too long, or an item has no usable id
 */
export function listItems(
  body: JsonValue,
  { list_path: listPath, id_path: idPath }: ListPaths,
): PolledItem[] {
  const list = readField(body, listPath.trim());
  const setting = 'list_path';
  if (!isJsonArray(list)) {
    throw new NodeProblem(
      message('nodes.poll_no_list', { setting, given: typeName(list) }),
      'invalid_response',
    );
  }
  if (list.length > MAX_LISTED) {
    throw new NodeProblem(message('nodes.poll_too_many', { max: MAX_LISTED }), 'too_many_items');
  }
  return list.map((item, at) => ({ id: idOf(item, idPath.trim(), at), data: item }));
}

function idOf(item: JsonValue, path: string, at: number): string {
  if (path === '') return hashOf(item);
  const value = readField(item, path);
  const id = value === null ? undefined : scalarText(value);
  if (id !== undefined && id !== '') return id;
  throw new NodeProblem(
    message('nodes.poll_no_id', { setting: 'id_path', at, given: typeName(value) }),
    'invalid_response',
  );
}

/** An id for an item that has none. */
export function hashOf(value: JsonValue): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
