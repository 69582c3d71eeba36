import {
  canonicalJson,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  textOrJson,
  type VectorFilter,
  type VectorItem,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { sha256Hex } from '@millrace/node-kit/digest';

/** An item to be stored; without a vector, one is made of its text. */
export type GivenItem = VectorItem & { readonly vector: readonly number[] | null };

/**
 * The items of a config: objects with text and more, or texts alone. An item without a key gets one that its text and metadata give it, so
 * that storing the same again changes nothing.
 * @returns why, when they can't be used
 */
export async function readItems(value: JsonValue): Promise<readonly GivenItem[] | Message> {
  const given = isJsonArray(value) ? value : [value];
  const items: GivenItem[] = [];
  for (const [index, each] of given.entries()) {
    const item = readItem(each);
    if (item === undefined) return message('nodes.wrong_item', { index });
    const { key, text, metadata } = item;
    items.push({ ...item, key: key ?? (await sha256Hex(canonicalJson([text, metadata]))).slice(0, 32) });
  }
  return items;
}

type ReadItem = Omit<GivenItem, 'key'> & { readonly key: string | null };

function readItem(value: JsonValue): ReadItem | undefined {
  if (!isJsonObject(value)) {
    return typeof value === 'string' ? { key: null, text: value, metadata: {}, vector: null } : undefined;
  }
  const { key = null, text = '', metadata = null, vector = null, ...others } = value;
  if (Object.keys(others).length > 0) return undefined;
  const readKey = typeof key === 'number' ? String(key) : key;
  const readMetadata = metadata ?? {};
  if (readKey !== null && typeof readKey !== 'string') return undefined;
  if (!isJsonObject(readMetadata)) return undefined;
  const readVector = vector === null ? null : numbersIn(vector);
  return readVector === undefined
    ? undefined
    : { key: readKey, text: textOrJson(text), metadata: readMetadata, vector: readVector };
}

/** A list of numbers; undefined for anything else. */
export function numbersIn(value: JsonValue): readonly number[] | undefined {
  if (!isJsonArray(value) || value.length === 0 || value.length > 4096) return undefined;
  const numbers = value.filter((each) => typeof each === 'number');
  return numbers.length === value.length ? numbers : undefined;
}

/** The filter of a config: each member is a value or a list of values of which one must fit. Undefined if it is none. */
export function readFilter(value: JsonObject): VectorFilter | undefined {
  const entries = Object.entries(value).map(([name, wanted]): [string, readonly JsonValue[]] => [
    name,
    isJsonArray(wanted) ? wanted : [wanted],
  ]);
  const isFlat = entries.every(([, values]) =>
    values.every((each) => !isJsonArray(each) && !isJsonObject(each)),
  );
  return isFlat ? Object.fromEntries(entries) : undefined;
}
