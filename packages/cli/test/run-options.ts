import { parseArgs } from 'node:util';

/** What the command line of a long test asks for. */
export type RunTask<Options> =
  | { readonly kind: 'help' }
  | (Options & { readonly kind: 'run'; readonly json: boolean });

/** Thrown for options that can't be used, with a message for the user. */
export class UsageError extends Error {}

/**
 * Reads options that are whole numbers, besides `--json` and `--help`.
 * @param least the smallest number that each may be
 * @throws UsageError
 */
export function parseRunOptions<Name extends string>(
  args: readonly string[],
  defaults: Readonly<Record<Name, number>>,
  least: Readonly<Record<Name, number>>,
): RunTask<Record<Name, number>> {
  const names = Object.keys(defaults) as Name[];
  const flag = { type: 'boolean', default: false } as const;
  const texts = Object.fromEntries(names.map((name) => [name, { type: 'string' } as const]));
  let values: { readonly [name: string]: string | boolean | undefined };
  try {
    ({ values } = parseArgs({ args: [...args], options: { ...texts, json: flag, help: flag } }));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  if (values.help === true) return { kind: 'help' };
  const numbers: Record<Name, number> = { ...defaults };
  for (const name of names) {
    const given = values[name];
    if (given === undefined) continue;
    const value = Number(given);
    if (!Number.isSafeInteger(value) || value < least[name])
      throw new UsageError(`--${name} must be a whole number from ${least[name]}`);
    numbers[name] = value;
  }
  const run = { kind: 'run', json: values.json === true } as const;
  return { ...numbers, ...run };
}
