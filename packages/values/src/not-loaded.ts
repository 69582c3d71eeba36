/**
 * Some modules are large, hardly ever needed, and can't be waited for where they are used. In the build of the admin area another module stands in for
 * such a one: `-page` follows its name. It throws this error until what it stands for is loaded.
 */
export class NotLoadedError extends Error {
  /** Afterwards it can be used. */
  readonly load: () => Promise<void>;

  constructor(what: string, load: () => Promise<void>) {
    super(`${what} must be loaded before they are used`);
    this.load = load;
  }
}

/** Does something that may need what isn't loaded; if it does, loads that and does it again from the start. */
export async function loadingWhatItNeeds<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NotLoadedError)) throw error;
    await error.load();
  }
  // It may need something else further on.
  return await loadingWhatItNeeds(work);
}
