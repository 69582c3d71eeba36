import common from './ja/common.json';
import shell from './ja/shell.json';
import workflow from './ja/workflow.json';

/** The Japanese texts that every page shows. */
export const texts = { common, shell, workflow };
