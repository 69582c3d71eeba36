import commands from './ja/commands.json';
import common from './ja/common.json';
import folders from './ja/folders.json';
import help from './ja/help.json';
import shell from './ja/shell.json';
import workflow from './ja/workflow.json';
import workflows from './ja/workflows.json';

/** The Japanese texts that every page shows, and those of the list of workflows. */
export const texts = { common, shell, commands, folders, help, workflow, workflows };
