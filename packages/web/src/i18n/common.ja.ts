import type { commonEn } from './common.en.ts';
import type { Texts } from './texts.ts';

export const commonJa: Texts<typeof commonEn> = {
  cancel: 'キャンセル',
  save: '保存',
  close: '閉じる',
  delete: '削除',
  edit: '編集',
  copy: 'コピー',
  copied: 'コピーしました',
  retry: '再試行',
  loading: '読み込み中',
  loadMore: 'さらに読み込む',
  search: '検索',
  yes: 'はい',
  no: 'いいえ',
  none: 'なし',
  actions: '操作',
  back: '戻る',
  errorTitle: '読み込めませんでした',
  errorUnreachable: 'サービスに接続できません。動作していることを確認して、もう一度お試しください。',
  requestId: 'リクエスト {{id}}',
  notFoundTitle: 'ここには何もありません',
  notFoundText: 'アドレスが間違っているか、対象が削除されたか、別の組織のものである可能性があります。',
  toStart: 'トップページへ',
  crashTitle: 'このページでエラーが発生しました',
  crashText:
    '保存済みの内容は失われていません。ページを再読み込みし、再び失敗する場合は下の文言をお知らせください。',
  reload: '再読み込み',
  typeToConfirm: '確認のため {{text}} と入力してください',
  noPermission: 'あなたの役割では許可されていません',
};
