import { id, searchReader } from '@millrace/ui/api/search-params.ts';

/** The version to view; none: the editable flow. */
export const readVersionSearch = searchReader({ version: id });
