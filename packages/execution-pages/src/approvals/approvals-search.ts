import { oneOf, searchReader } from '@millrace/ui/api/search-params.ts';

/** Whether pending or decided approvals are shown. */
export const readApprovalsSearch = searchReader({ state: oneOf(['decided']) });
