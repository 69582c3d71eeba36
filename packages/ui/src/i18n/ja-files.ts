import files from './ja/files.json';

/** The Japanese texts of files in executions. */
export const texts = { files };
