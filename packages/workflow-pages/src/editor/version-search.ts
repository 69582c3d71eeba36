import { id, searchReader } from '@millrace/ui/api/search-params.ts';

/** The version to view (none: the editable flow), and the execution whose data is worked with. */
export const readVersionSearch = searchReader({ version: id, execution: id });
