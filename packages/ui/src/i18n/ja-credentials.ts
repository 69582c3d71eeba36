import credentials from './ja/credentials.json';

/** The Japanese texts of credentials: nearly as large as those of all other pages together. */
export const texts = { credentials };
