import type { credentialsEn } from './credentials.en.ts';
import type { Texts } from './texts.ts';

const username = 'ユーザー名';
const password = 'パスワード';
const server = 'サーバー';
const port = { title: 'ポート', hint: 'TCP ポート番号（1～65535）。' };

export const credentialsJa: Texts<typeof credentialsEn> = {
  title: '認証情報',
  about:
    'ワークフローが使うパスワード・トークン・鍵です。秘密は暗号化して保存され、再び表示されることはありません。',
  add: '認証情報を追加',
  addAction: '追加',
  editTitle: '{{name}} を変更',
  name: '名前',
  nameHint: '何に使うか',
  nameExample: 'CRM（読み取り専用）',
  type: '種類',
  typeHint: '種類を選択',
  goesTo: '送信先',
  everyHost: 'すべてのホスト',
  neverSent: '送信されません',
  lastUse: '最終使用',
  neverUsed: '未使用',
  updated: '変更',
  createdBy: '{{email}} が追加',
  needsSecret: '秘密がありません',
  needsSecretHint: '暗号化に使った鍵とともに秘密が破棄されました。入力し直してください。',
  actionsNamed: '{{name}} のその他の操作',
  usage: '使用箇所',
  usageTitle: '{{name}} を使うワークフロー',
  unused: '保存済みのワークフローでは使われていません。',
  hosts: '送信を許すホスト',
  hostsHint:
    'api.example.com、api.example.com:8443、*.example.com など。Enter で追加します。* だけならすべてのホストを表します。',
  anyHostWarning: 'すべてのホストに送信できます。ワークフローを作る人は、どこへでも送れることになります。',
  keepSecret: '保存済みです。空のままにすると変わりません。',
  enterAnew: '入力し直してください。',
  elsewhere: '送信先を変えるときは、秘密も入力し直してください。',
  removeSecret: '保存済みの値を消す',
  optional: '任意',
  saved: '{{name}} を保存しました。',
  remove: '削除',
  removeTitle: '{{name}} を削除しますか？',
  removeHint: '秘密は完全に失われます。',
  removeUsed: '次のワークフローで使われています。削除すると該当のノードは失敗します。',
  removeUsedEditor:
    '次のワークフローで使われています。先にノードで別の認証情報を選ぶか、組織の管理者に依頼してください。',
  removed: '{{name}} を削除しました。',
  empty: '認証情報はまだありません',
  emptyHint: 'パスワード・トークン・鍵をノードのために保管し、どこへ送ってよいかを定めます。',
  types: {
    bearer: { title: 'Bearer トークン', about: 'Authorization: Bearer として送信されます。' },
    basic: { title: 'ユーザー名とパスワード', about: 'HTTP Basic 認証として送信されます。' },
    header: { title: 'ヘッダー', about: 'X-Api-Key など、独自のヘッダーです。' },
    secret: { title: '署名用の秘密', about: 'メッセージの署名や検証に使う鍵です。外部へは送信されません。' },
    smtp: { title: 'メールサーバー', about: 'メールを受け付ける SMTP サーバーです。' },
    sql: {
      title: 'SQL データベース',
      about: 'PostgreSQL または MySQL のサーバーです。必要な権限だけを持つアカウントを使ってください。',
    },
    ai: { title: 'AI プロバイダー', about: '回答するモデルの提供元です。' },
    chat: { title: 'チャット', about: 'メッセージを受け取るチャットサービスです。' },
  },
  fields: {
    bearer: { token: { title: 'トークン', hint: 'Bearer という語は含めません。' } },
    basic: {
      username: { title: username, hint: 'コロンは使えません。' },
      password: { title: password, hint: '空でもかまいません。' },
    },
    header: {
      name: { title: 'ヘッダー名', hint: '例: X-Api-Key' },
      value: { title: 'ヘッダーの値', hint: 'ヘッダーで送る内容です。' },
    },
    secret: { value: { title: '秘密', hint: '相手側に表示されているとおりに。' } },
    smtp: {
      host: { title: server, hint: 'smtp.example.com などのホスト名。' },
      port,
      security: {
        title: '暗号化',
        hint: 'starttls: 接続後に必須（ポート 587）。tls: 最初から（ポート 465）。none: 暗号化なし。',
      },
      username: { title: username, hint: 'サーバーが求めない場合は空。' },
      password: { title: password, hint: 'サーバーが求めない場合は空。' },
    },
    sql: {
      dialect: { title: '種別', hint: 'どのサーバーか。' },
      host: { title: server, hint: 'ホスト名またはアドレス。' },
      port: { ...port, hint: 'TCP ポート番号（1～65535）。MySQL は通常 3306 です。' },
      database: { title: 'データベース', hint: 'データベースの名前。' },
      username: { title: username, hint: 'アカウントの名前。' },
      password: { title: password, hint: '空でもかまいません。' },
      tls: { title: '暗号化', hint: 'verify: 証明書を検証。require: 暗号化のみ。off: 暗号化なし。' },
    },
    ai: {
      provider: { title: 'プロバイダー', hint: 'サーバーが話すインターフェースの種類。' },
      base_url: {
        title: 'ベース URL',
        hint: 'https://api.example.com/v1 など。空ならプロバイダーの既定値。',
      },
      api_key: { title: 'API キー', hint: 'プロバイダーに表示されているとおりに。' },
    },
    chat: {
      service: { title: 'サービス', hint: 'どのサービスか。' },
      webhook_url: { title: 'Webhook URL', hint: '受信 Webhook のアドレス（対応サービスのみ）。' },
      token: { title: 'トークン', hint: 'ボットまたは API のトークン（対応サービスのみ）。' },
      base_url: {
        title: server,
        hint: '自社運用の場合。https://chat.example.com など。空ならサービスの既定値。',
      },
    },
  },
};
