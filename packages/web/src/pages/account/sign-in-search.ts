const SIGN_ON_PROBLEMS = [
  'email_unverified',
  'unknown_person',
  'setup_needed',
  'unavailable',
  'refused',
  'stale',
  'failed',
] as const;

interface SignInSearch {
  /** Where to go on after it: a path of this page. */
  readonly next?: string;
  /** Why single sign-on did not work. */
  readonly problem?: (typeof SIGN_ON_PROBLEMS)[number];
  /** A session has ended, without anybody signing out here. */
  readonly ended?: true;
}

/** What in an address of the sign-in page is to be believed; anybody can make one up and have it opened. */
export function readSignInSearch({
  next,
  problem,
  ended,
}: {
  readonly next?: unknown;
  readonly problem?: unknown;
  readonly ended?: unknown;
}): SignInSearch {
  const known = SIGN_ON_PROBLEMS.find((each) => each === problem);
  return {
    ...(typeof next === 'string' && /^\/(?![/\\])[^\s\\]*$/.test(next) ? { next } : {}),
    ...(known === undefined ? {} : { problem: known }),
    ...(ended === true ? { ended } : {}),
  };
}
