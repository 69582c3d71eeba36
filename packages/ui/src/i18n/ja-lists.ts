import commands from './ja/commands.json';
import folders from './ja/folders.json';
import help from './ja/help.json';
import workflows from './ja/workflows.json';

/** The Japanese texts of the list of workflows, and of the menus around pages. */
export const texts = { commands, folders, help, workflows };
