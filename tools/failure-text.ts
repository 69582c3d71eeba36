import type { SerializedError } from 'vitest';

/** Of one error; a whole page of a browser may be in it. */
const MAX_CHARACTERS = 4_000;
/** Of the stack: where the test was. */
const OWN_FRAMES = 5;

/**
 * What a failed test says, for a run that may be ended before its summary: where it is and what is wrong.
 *
 * @param name of the test, with its file
 */
export function failureText(name: string, errors: readonly SerializedError[]): string {
  return [`Failure in ${name}`, ...errors.map(errorText)].join('\n');
}

function errorText({ message, diff, stack }: SerializedError): string {
  const frames = (stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !line.includes('node_modules'))
    .slice(0, OWN_FRAMES);
  const text = typeof diff === 'string' ? `${message}\n${diff}` : message;
  const cut = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)} …` : text;
  return [cut, ...frames].join('\n').replaceAll(/^/gm, '  ');
}
