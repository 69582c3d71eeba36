import { visit } from 'jsonc-parser';

/** A string up to where it ends or is malformed. */
const STRING_START = /"(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*/iuy;

/**
 * Where a string stops being JSON. Runtimes report the position of some mistakes only, each in its own words, which may quote the input.
 * @returns offset of the first invalid character; the length when the input ends too early or is JSON; 0 when it is nested too deeply to be
 * read
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

/** Ends a visit, which would continue after the first mistake. */
class Stop extends Error {}
