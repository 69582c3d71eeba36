import { searchReader, text } from '@millrace/ui/api/search-params.ts';

/** Filters of the gallery as stored in the address. */
export const readGallerySearch = searchReader({ search: text, category: text });
export type GallerySearch = ReturnType<typeof readGallerySearch>;
