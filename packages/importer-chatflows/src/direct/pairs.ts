import { type JsonValue, setOwn } from '@millrace/engine';

type Pairs = { [name: string]: JsonValue };

/** Lines of `name: value` as an object. */
export function pairsIn(text: string, make: (text: string) => JsonValue): Pairs {
  const found: Pairs = {};
  for (const line of text.split('\n')) {
    const at = line.indexOf(':');
    const name = (at < 0 ? line : line.slice(0, at)).trim();
    if (name !== '') setOwn(found, name, at < 0 ? '' : make(line.slice(at + 1).trim()));
  }
  return found;
}
