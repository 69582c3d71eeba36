import type { Queryable } from '@millrace/database/database';
import {
  findOrganisation,
  listOrganisations,
  type OrganisationRow,
} from '@millrace/identity/organisations/store';
import { RefusedError, UsageError } from './shell.ts';

/** Whether someone can be asked: a terminal at both ends, and no `--json`. */
function canAsk(options: { readonly json?: boolean }): boolean {
  return options.json !== true && process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** The value given, else the answer typed at the terminal. @throws UsageError if nobody can be asked */
export async function textOrAsk(
  given: string | undefined,
  flag: string,
  question: string,
  options: { readonly json?: boolean },
): Promise<string> {
  if (given !== undefined) return given;
  if (!canAsk(options)) throw missing(flag);
  const { text } = await import('@clack/prompts');
  return answered(await text({ message: question }));
}

/** A new value typed at the terminal; undefined: unchanged, or nobody can be asked. */
export async function changeOrKeep(
  question: string,
  value: string,
  options: { readonly json?: boolean },
): Promise<string | undefined> {
  if (!canAsk(options)) return undefined;
  const { text } = await import('@clack/prompts');
  const given = answered(await text({ message: question, initialValue: value, defaultValue: '' }));
  return given === value ? undefined : given;
}

/** The choices given, else those ticked at the terminal. */
export async function choicesOrAsk(
  given: readonly string[] | undefined,
  flag: string,
  question: string,
  choices: readonly string[],
  options: { readonly json?: boolean },
): Promise<readonly string[]> {
  if (given !== undefined) return given;
  if (!canAsk(options)) throw missing(flag);
  const { multiselect } = await import('@clack/prompts');
  return answered(
    await multiselect({ message: question, options: choices.map((value) => ({ value, label: value })) }),
  );
}

/** The choice given, else the one made at the terminal. */
export async function choiceOrAsk(
  given: string | undefined,
  flag: string,
  question: string,
  choices: readonly { readonly value: string; readonly label: string }[],
  options: { readonly json?: boolean },
): Promise<string> {
  if (given !== undefined) return given;
  if (!canAsk(options)) throw missing(flag);
  const { select } = await import('@clack/prompts');
  return answered(
    await select({
      message: question,
      options: choices.map(({ value, label }) => ({ value, label, hint: value })),
    }),
  );
}

/**
 * A secret typed at the terminal without echo.
 * @param flag the option that provides it in scripts; null: it is optional, and then undefined
 */
export async function secretOrAsk(
  flag: string | null,
  question: string,
  options: { readonly json?: boolean },
): Promise<string | undefined> {
  if (!canAsk(options)) {
    if (flag === null) return undefined;
    throw missing(flag);
  }
  const { password } = await import('@clack/prompts');
  return answered(await password({ message: question }));
}

/** Continues only after confirmation at the terminal. @throws UsageError if nobody can be asked */
export async function confirmOrRefuse(
  question: string,
  flag: string,
  options: { readonly json?: boolean },
): Promise<void> {
  if (!canAsk(options)) throw missing(flag);
  const { confirm } = await import('@clack/prompts');
  const isAgreed = answered(await confirm({ message: question, initialValue: false }));
  if (!isAgreed) throw new RefusedError('interrupted', 'Nothing was changed.');
}

/** The organisation named by `--org`, else the only one, else the one chosen at the terminal. */
export async function organisationOrAsk(
  db: Queryable,
  options: { readonly org?: string; readonly json?: boolean },
): Promise<OrganisationRow> {
  if (options.org !== undefined) return findOrganisation(db, options.org);
  const all = await listOrganisations(db);
  const [only] = all;
  if (only === undefined) {
    throw new RefusedError(
      'no_organisation',
      'There are no organisations yet. Create one with `millrace orgs create --name NAME`.',
    );
  }
  if (all.length === 1) return only;
  if (!canAsk(options)) throw missing('--org (there is more than one organisation)');
  const { select } = await import('@clack/prompts');
  const id = answered(
    await select({
      message: 'Which organisation?',
      options: all.map((row) => ({ value: row.id, label: row.name, hint: `id ${row.id}` })),
    }),
  );
  return findOrganisation(db, String(id));
}

/** The answer; clack returns a symbol for a cancelled prompt. */
function answered<Value>(value: Value): Exclude<Value, symbol> {
  if (typeof value === 'symbol') throw new RefusedError('interrupted', 'Nothing was changed.');
  return value as Exclude<Value, symbol>;
}

function missing(flag: string): UsageError {
  return new UsageError('missing_option', `Missing ${flag}. See --help for an example.`);
}
