import { oneOf, searchReader, text } from '@millrace/ui/api/search-params.ts';

/** Which list is shown, and what is searched for in it. */
export const readAiDataSearch = searchReader({ tab: oneOf(['conversations']), search: text });
