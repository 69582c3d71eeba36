import { visit } from 'jsonc-parser';

/** A string up to where it ends or is malformed. */
const STRING_START = /"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*/iuy;

/**
 * Where a text stops being JSON. Runtimes say so for some mistakes only, each in words of its own, which may quote the text.
 * @returns offset of the first character that doesn't fit; the text's length when it ends too early or is JSON; 0 when it
 *   is nested too deeply to be read
 */
export function findJsonMistake(text: string): number {
  let at = text.length;
  try {
    visit(
      text,
      {
        onError: (_code, offset) => {
          at = offset;
          throw new Stop();
        },
      },
      { disallowComments: true },
    );
  } catch (error) {
    if (error instanceof RangeError) return 0;
    if (!(error instanceof Stop)) throw error;
  }
  STRING_START.lastIndex = at;
  const end = STRING_START.test(text) ? STRING_START.lastIndex : at;
  return text[end] === '"' ? at : end;
}

/** Ends a visit, which would go on after the first mistake. */
class Stop extends Error {}
