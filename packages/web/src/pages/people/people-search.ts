import { oneOf, searchReader, text } from '@millrace/ui/api/search-params.ts';

/** Which list is shown. */
export const readMembersSearch = searchReader({ tab: oneOf(['invitations']) });

export const readAccountsSearch = searchReader({ search: text });
