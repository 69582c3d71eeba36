import { loadOnce } from '@millrace/engine';
import { type FieldError, validationError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { isPassword, normalisePassword } from './passwords.ts';

const MIN_CHARACTERS = 12;
const MIN_DIFFERENT_CHARACTERS = 5;
/** Minimum characters of a password beyond the name and the address of its owner. */
const MIN_OWN_CHARACTERS = 6;
/** Estimating takes longer for longer passwords; common parts show at the start. */
const MAX_ESTIMATED_CHARACTERS = 64;
/** 0 or 1 of zxcvbn's five: fewer than a million guesses. */
const MIN_SCORE = 2;

interface Owner {
  readonly email: string;
  readonly name: string;
}

/**
 * @param pointer of the password in the body
 * @throws ApiError 422 if it is too easy to guess
 */
export async function refuseWeakPassword(password: string, owner: Owner, pointer: string): Promise<void> {
  const text = normalisePassword(password);
  const problem = findWeakness(text, owner) ?? (await findCommon(text, owner));
  if (problem !== null) throw validationError([{ pointer, ...problem }]);
}

/**
 * @param stored the current password's hash
 * @throws ApiError 422 if the new password is the current one
 */
export async function refuseSamePassword(
  stored: string | null,
  password: string,
  pointer: string,
): Promise<void> {
  if (stored === null || !(await isPassword(stored, password))) return;
  const unchanged = message('identity.password_unchanged');
  throw validationError([{ pointer, code: 'password_unchanged', message: unchanged }]);
}

function findWeakness(password: string, { email, name }: Owner): Omit<FieldError, 'pointer'> | null {
  const characters = [...password];
  if (characters.length < MIN_CHARACTERS) {
    return {
      code: 'password_too_short',
      message: message('identity.password_too_short', { min: MIN_CHARACTERS }),
    };
  }
  if (new Set(characters).size < MIN_DIFFERENT_CHARACTERS) {
    return { code: 'password_too_simple', message: message('identity.password_too_simple') };
  }
  const known = [email, ...email.split('@'), name, ...name.split(/\s+/)].filter((part) => part.length >= 3);
  const left = known
    .sort((a, b) => b.length - a.length)
    .reduce((text, part) => text.replaceAll(part.toLowerCase(), ''), password.toLowerCase());
  if ([...left].length < MIN_OWN_CHARACTERS) {
    return { code: 'password_too_personal', message: message('identity.password_too_personal') };
  }
  return null;
}

/** A common password, even slightly changed, several of them combined, or adjacent keys. */
async function findCommon(
  password: string,
  { email, name }: Owner,
): Promise<Omit<FieldError, 'pointer'> | null> {
  const estimate = await loadEstimate();
  if (estimate(password, [email, ...email.split('@'), name, 'millrace']) >= MIN_SCORE) return null;
  return { code: 'password_too_common', message: message('identity.password_too_common') };
}

type Estimate = (password: string, known: string[]) => number;

/** 50,000 common passwords take half a second to load: deferred until someone chooses one. */
const loadEstimate = loadOnce(async (): Promise<Estimate> => {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  const zxcvbn = new ZxcvbnFactory({
    dictionary,
    graphs: adjacencyGraphs,
    maxLength: MAX_ESTIMATED_CHARACTERS,
  });
  return (password, known) => zxcvbn.check(password, known).score;
});
