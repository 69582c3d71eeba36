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

/** What in an address of the sign-in page is to be believed; anybody can make one up and have it opened. */
export const readSignInSearch = searchReader({
  /** Where to go on after it: a path of this page. */
  next: (value) => (typeof value === 'string' && /^\/(?![/\\])[^\s\\]*$/.test(value) ? value : undefined),
  /** Why single sign-on did not work. */
  problem: oneOf(SIGN_ON_PROBLEMS),
  /** A session has ended, without anybody signing out here. */
  ended: oneOf([true]),
});
