import { accountJa } from './account.ja.ts';
import { auditJa } from './audit.ja.ts';
import { canvasJa } from './canvas.ja.ts';
import { commonJa } from './common.ja.ts';
import { credentialsJa } from './credentials.ja.ts';
import { editorJa } from './editor.ja.ts';
import type { en } from './en.ts';
import { errorHintsJa } from './error-hints.ja.ts';
import { executionsJa } from './executions.ja.ts';
import { formsJa } from './forms.ja.ts';
import { keysJa } from './keys.ja.ts';
import { peopleJa } from './people.ja.ts';
import { settingsJa } from './settings.ja.ts';
import { shellJa } from './shell.ja.ts';
import { systemJa } from './system.ja.ts';
import type { Texts } from './texts.ts';
import { workflowsJa } from './workflows.ja.ts';

/*
 * Words, the same everywhere: workflow ワークフロー, node ノード, edge 接続, handle 出口, trigger トリガー, execution 実行, draft 下書き,
 * version バージョン, template テンプレート (of a value, and a workflow to begin with), credential 認証情報, approval 承認, schedule スケジュール,
 * operator 運用者, callback コールバック, loop ループ, iteration 反復, sample サンプル, trial 試し実行, member メンバー, invitation 招待, organisation 組織,
 * role 役割, scope スコープ, to cancel キャンセルする, to archive アーカイブする, to restore 復元する (undo is 元に戻す), to rerun 再実行する,
 * queued 開始待ち (the queue is 待ち行列), waiting 待機中, attempt 試行, person 利用者, secret 秘密 (one that signs: シークレット).
 *
 * Full-width （）、。？！ in Japanese, a blank between Japanese and Latin or digits, です・ます in sentences, nouns on buttons.
 */

/** All texts of the page in Japanese; a chunk of its own, loaded by readers of Japanese only. */
export const ja = {
  account: accountJa,
  audit: auditJa,
  canvas: canvasJa,
  common: commonJa,
  credentials: credentialsJa,
  editor: editorJa,
  executions: executionsJa,
  forms: formsJa,
  keys: keysJa,
  people: peopleJa,
  settings: settingsJa,
  shell: shellJa,
  system: systemJa,
  workflows: workflowsJa,
} as const satisfies Texts<typeof en>;

export { errorHintsJa };
