import account from './en/account.json';
import alerts from './en/alerts.json';
import approvals from './en/approvals.json';
import audit from './en/audit.json';
import canvas from './en/canvas.json';
import commands from './en/commands.json';
import common from './en/common.json';
import comparison from './en/comparison.json';
import conflict from './en/conflict.json';
import connectors from './en/connectors.json';
import conversations from './en/conversations.json';
import credentials from './en/credentials.json';
import debugging from './en/debugging.json';
import editor from './en/editor.json';
import executions from './en/executions.json';
import files from './en/files.json';
import folders from './en/folders.json';
import forms from './en/forms.json';
import gallery from './en/gallery.json';
import help from './en/help.json';
import keys from './en/keys.json';
import pasting from './en/pasting.json';
import people from './en/people.json';
import polling from './en/polling.json';
import runs from './en/runs.json';
import setting from './en/setting.json';
import settings from './en/settings.json';
import shell from './en/shell.json';
import storage from './en/storage.json';
import stored from './en/stored.json';
import system from './en/system.json';
import trying from './en/trying.json';
import versions from './en/versions.json';
import workflow from './en/workflow.json';
import workflows from './en/workflows.json';
import workplace from './en/workplace.json';

/** All UI texts, by namespace: `t('shell.place.workflows')`. */
export const en = {
  account,
  alerts,
  approvals,
  audit,
  canvas,
  commands,
  common,
  comparison,
  conflict,
  connectors,
  conversations,
  credentials,
  debugging,
  editor,
  executions,
  files,
  folders,
  forms,
  gallery,
  help,
  keys,
  pasting,
  people,
  polling,
  runs,
  setting,
  settings,
  shell,
  storage,
  stored,
  system,
  trying,
  versions,
  workflow,
  workflows,
  workplace,
};
