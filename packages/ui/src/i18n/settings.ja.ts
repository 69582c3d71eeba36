import type { settingsEn } from './settings.en.ts';
import type { Texts } from './texts.ts';

export const settingsJa: Texts<typeof settingsEn> = {
  title: '設定',
  about: '組織全体に適用されます。',
  saved: '保存しました。',
  general: '全般',
  name: '名前',
  timeZone: 'タイムゾーン',
  timeZoneHint: '新しいワークフローとスケジュールの初期値です。既存のものは変わりません。',
  timeZoneNone: 'UTC',
  retention: '保存期間',
  retentionHint:
    '終了した実行を、入力と出力を含めて削除するまでの日数です。サービスの保存期間を超えることはできません。',
  days_one: '{{count}} 日',
  days_other: '{{count}} 日',
  serviceDays_one: 'サービス: {{count}} 日',
  serviceDays_other: 'サービス: {{count}} 日',
  auditDays_one: '監査ログは {{count}} 日間保存されます。',
  auditDays_other: '監査ログは {{count}} 日間保存されます。',
  limits: '制限',
  requests: '1 分あたりの API リクエスト数',
  requestsHint:
    'すべての API キーの合計です。超えると 429 で拒否されます。サービスのプロセスごとに数えます。',
  requestsNone: '独自の制限なし',
  requestsService: 'サービス: キーごとに 1 分 {{limit}} 回まで。',
  requestsServiceNone: 'サービス: キーごとの制限なし。',
  hosts: '接続を許すホスト',
  hostsHint:
    'ノードが呼び出せるホストです（HTTP・メール・SQL・チャット・AI）。サービスが許す範囲を狭めるだけで、リダイレクト先にも適用されます。すぐに反映されます。',
  hostsAll: 'サービスが許すすべて',
  hostsService: '公開インターネットのみ。内部ネットワークは対象外です。',
  hostsServiceOpened: '公開インターネットと、内部ネットワークのうち {{hosts}}',
  hostsOnly: '次のものだけ',
  hostsLabel: 'ホスト',
  hostsExample: 'api.example.com、*.example.com、db.example.com:5432、10.0.0.0/8 など。Enter で追加します。',
  hostsNone: '一覧が空です。どのノードも外部を呼び出せません。',
};
