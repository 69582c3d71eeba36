import { oneOf, searchReader } from '@millrace/ui/api/search-params.ts';

/** Whether the questions that wait are shown, or those that were answered. */
export const readApprovalsSearch = searchReader({ state: oneOf(['decided']) });
