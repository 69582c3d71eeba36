import common from './en/common.json';
import shell from './en/shell.json';

/** The texts that every page shows; the others are in `parts`, each loaded with the pages that show it. */
export const firstTexts = { common, shell };
