import { id, searchReader } from '@millrace/ui/api/search-params.ts';

/** The version to be looked at; none: what is worked on. */
export const readVersionSearch = searchReader({ version: id });
