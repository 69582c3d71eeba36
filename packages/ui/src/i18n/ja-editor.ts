import editor from './ja/editor.json';

/** The Japanese texts of the editor. */
export const texts = { editor };
