declare module 'vitest' {
  interface ProvidedContext {
    /** Opens the test server's database `postgres` as superuser. */
    superuserUrl: string;
    /** Opens the test server's empty database `millrace` as the role `millrace`, which is no superuser. */
    databaseUrl: string;
    /** The data folder of a stopped server that has the template, to be copied with owners and modes. */
    preparedDataDir: string;
  }
}

/** The migrated database without rows that each test's own is copied from. */
export const TEMPLATE = 'millrace_template';
