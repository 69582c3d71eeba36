import { lazyPart } from './lazy-part.tsx';

/** A dialog of a page that shows none at first: what dialogs are made of is loaded when it is opened. Rendered only while it is open. */
export const ConfirmLater = lazyPart(async () => (await import('./form-dialog.tsx')).ConfirmDialog);
