import { readFileSync } from 'node:fs';

const description = readFileSync(new URL('../package.json', import.meta.url), 'utf8');

/** The running version of Millrace. */
export const SERVICE_VERSION = (JSON.parse(description) as { readonly version: string }).version;
