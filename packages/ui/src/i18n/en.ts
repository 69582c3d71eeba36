import { accountEn } from './account.en.ts';
import { auditEn } from './audit.en.ts';
import { canvasEn } from './canvas.en.ts';
import { commonEn } from './common.en.ts';
import { credentialsEn } from './credentials.en.ts';
import { editorEn } from './editor.en.ts';
import { executionsEn } from './executions.en.ts';
import { formsEn } from './forms.en.ts';
import { keysEn } from './keys.en.ts';
import { peopleEn } from './people.en.ts';
import { settingsEn } from './settings.en.ts';
import { shellEn } from './shell.en.ts';
import { systemEn } from './system.en.ts';
import { workflowsEn } from './workflows.en.ts';

/** All texts of the page, by part; `t('shell.workflows')`. */
export const en = {
  account: accountEn,
  audit: auditEn,
  canvas: canvasEn,
  common: commonEn,
  credentials: credentialsEn,
  editor: editorEn,
  executions: executionsEn,
  forms: formsEn,
  keys: keysEn,
  people: peopleEn,
  settings: settingsEn,
  shell: shellEn,
  system: systemEn,
  workflows: workflowsEn,
} as const;
