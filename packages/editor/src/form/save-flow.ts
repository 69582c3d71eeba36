import { createContext } from 'react';

/** Saves what is on the canvas as a version; null where nothing can be saved. */
export const SaveFlow = createContext<(() => Promise<boolean>) | null>(null);
