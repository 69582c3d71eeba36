import { oneOf, searchReader } from '@millrace/ui/api/search-params.ts';

const SIGN_ON_PROBLEMS = [
  'email_unverified',
  'unknown_person',
  'setup_needed',
  'unavailable',
  'refused',
  'stale',
  'failed',
] as const;

/** The trusted part of a sign-in address; anyone can craft one and trick others into opening it. */
export const readSignInSearch = searchReader({
  /** Where to go after signing in: a path on this host. */
  next: (value) => (typeof value === 'string' && /^\/(?![/\\])[^\s\\]*$/.test(value) ? value : undefined),
  /** Why single sign-on failed. */
  problem: oneOf(SIGN_ON_PROBLEMS),
  /** The session ended without the user signing out here. */
  ended: oneOf([true]),
});
