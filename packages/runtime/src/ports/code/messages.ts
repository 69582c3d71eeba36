/** Texts for the author of code that failed. */

export function timeoutMessage(timeoutMs: number): string {
  return `The code was stopped: it ran for longer than ${timeoutMs} ms. Do less in one go, or raise timeout_ms.`;
}

export function memoryMessage(memoryBytes: number): string {
  const mebibytes = Math.round(memoryBytes / 1_048_576);
  return `The code was stopped: it needed more than ${mebibytes} MiB of memory. Keep less at a time, or raise memory_mb.`;
}

const MAX_MESSAGE_LENGTH = 2_000;

/**
 * What was thrown and where in the author's code.
 * @param description null when the thrown value could not be looked at
 * @param stack as QuickJS writes it, one line above the author's first
 * @param file the name of the author's code in it
 */
export function messageOf(
  description: string | null,
  stack: string | null,
  source: string,
  file: string,
): string {
  const what = description ?? 'The code threw a value that cannot be looked at';
  const cut = what.length > MAX_MESSAGE_LENGTH ? `${what.slice(0, MAX_MESSAGE_LENGTH)}…` : what;
  const place = placeIn(stack ?? '', source, file);
  if (place === null) return cut;
  // What the parser misses there belongs to the function around the code, which the author does not see.
  if (place === AT_THE_END && cut.startsWith('SyntaxError')) {
    return withPlace(
      'SyntaxError: a bracket, a brace or a quote is not closed, or is closed once too often',
      place,
    );
  }
  return withPlace(cut, place);
}

interface Place {
  readonly line: string;
  readonly column: string;
}

const AT_THE_END: Place = { line: '', column: '' };

function withPlace(what: string, place: Place): string {
  if (place === AT_THE_END) return `${what} (at the end of the code)`;
  return `${what} (line ${place.line}, column ${place.column})`;
}

function placeIn(stack: string, source: string, file: string): Place | null {
  const frame = stack.split('\n').find((each) => each.includes(`${file}:`)) ?? '';
  const [, line, column] = /:(\d+):(\d+)\)?\s*$/.exec(frame) ?? [];
  if (line === undefined || column === undefined) return null;
  const lineInSource = Number(line) - 1;
  if (lineInSource < 1) return null;
  if (lineInSource > source.split('\n').length) return AT_THE_END;
  return { line: String(lineInSource), column };
}
