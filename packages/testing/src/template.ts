declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the test server's database `postgres` as superuser. */
    superuserUrl: string;
    /** URL of the test server's empty database `millrace` as the role `millrace`, which isn't a superuser. */
    databaseUrl: string;
    /** The data folder of a stopped server with the template, to be copied with owners and modes. */
    preparedDataDir: string;
  }
}

/** The migrated, empty database that each test's own is copied from. */
export const TEMPLATE = 'millrace_template';
