import account from './ja/account.json';
import alerts from './ja/alerts.json';
import audit from './ja/audit.json';
import canvas from './ja/canvas.json';
import commands from './ja/commands.json';
import common from './ja/common.json';
import credentials from './ja/credentials.json';
import debugging from './ja/debugging.json';
import editor from './ja/editor.json';
import errorHints from './ja/error-hints.json';
import executions from './ja/executions.json';
import folders from './ja/folders.json';
import forms from './ja/forms.json';
import gallery from './ja/gallery.json';
import help from './ja/help.json';
import keys from './ja/keys.json';
import pasting from './ja/pasting.json';
import people from './ja/people.json';
import settings from './ja/settings.json';
import shell from './ja/shell.json';
import storage from './ja/storage.json';
import system from './ja/system.json';
import workflow from './ja/workflow.json';
import workflows from './ja/workflows.json';

/** All UI texts in Japanese; a separate chunk, loaded only for Japanese readers. */
export const ja = {
  account,
  alerts,
  audit,
  canvas,
  common,
  commands,
  credentials,
  debugging,
  editor,
  executions,
  folders,
  forms,
  gallery,
  help,
  keys,
  pasting,
  people,
  settings,
  shell,
  storage,
  system,
  workflow,
  workflows,
};

export { errorHints };
