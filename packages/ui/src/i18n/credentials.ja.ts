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
  keepUnknown: '空のままにすると、保存されている値は変わりません。',
  enterAnew: '入力し直してください。',
  elsewhere: '送信先を変えるときは、秘密も入力し直してください。',
  removeSecret: '保存済みの値を消す',
  optional: '任意',
  saved: '{{name}} を保存しました。',
  test: {
    action: 'テスト',
    title: '{{name}} をテスト',
    again: 'もう一度テスト',
    change: '変更する',
    running: 'テスト中…',
    about: {
      bearer: '認証情報を付けてページを取得し、付けずにもう一度取得して、結果が変わるかを確かめます。',
      basic: '認証情報を付けてページを取得し、付けずにもう一度取得して、結果が変わるかを確かめます。',
      header: '認証情報を付けてページを取得し、付けずにもう一度取得して、結果が変わるかを確かめます。',
      secret: '復号できるかを確かめます。送信されないものなので、外部への問い合わせはありません。',
      smtp: '接続してサインインします。メールは送信しません。',
      sql: '接続して SELECT 1 を実行します。',
      ai: 'モデルの一覧を取得します。トークンは消費しません。',
      chat: '誰の認証情報かをサービスに問い合わせます。メッセージは送信しません。',
    },
    url: '認証が必要なページのアドレス',
    urlHint: 'GET で呼び出します。使えるホスト: {{hosts}}',
    outcome: { works: '使えます', unsure: '確認できませんでした', failed: '使えません' },
    status: 'ステータス {{status}}',
    code: {
      accepted: '相手側に受け入れられました。',
      connected: 'サーバーに接続できました。ユーザー名がないため、サインインはしていません。',
      readable: '復号できます。',
      reached:
        'サーバーには接続できました。メッセージ以外には応答しないため、このアドレスが有効かどうかは最初の送信時に分かります。',
      open_to_all: '認証情報がなくても同じように応答するページです。公開されていないページで試してください。',
      redirected:
        '別のページ（多くはサインイン画面）へ転送されました。直接応答する API のアドレスを入力してください。',
      no_model_list: 'サーバーには接続できましたが、モデルの一覧がないため、鍵を確かめられませんでした。',
      other_status:
        'この応答からは認証情報が正しいか判断できません。別のページで試すか、時間をおいてください。',
      refused: '相手側に受け入れられませんでした。',
      forbidden: '相手側に許可されませんでした。アカウントの権限を確認するか、別のページで試してください。',
    },
    hint: {
      refused: '発行元からもう一度コピーしてください。期限切れか、途中で切れている可能性があります。',
      other: '各項目と、ここから相手側に接続できるかを確認してください。',
      invalid_credential: 'メッセージに示された項目を変更してください。',
      credential_unreadable: '変更画面で秘密を入力し直してください。',
      credential_host_not_allowed:
        '登録済みのホストのページで試すか、このホストを認証情報に追加してください。',
      target_not_allowed:
        '内部ネットワークの宛先か、設定の許可リストにないホストです。前者はサービスの運用者（MILLRACE_ALLOW_HOSTS）、後者は組織の管理者が許可できます。',
      connection_failed: 'ホスト名・ポートと、ここから接続できるかを確認してください。',
      timeout: 'ホストとポートを確認してください。途中のファイアウォールが遮断している場合もあります。',
      mail_auth_failed:
        'ユーザー名とパスワードを確認してください。アカウントのものではなく、アプリ用のパスワードが必要な場合が多くあります。',
      mail_connection_failed:
        'ホストとポートを確認してください。通常は starttls なら 587、tls なら 465 です。',
      mail_tls_failed:
        '暗号化の設定を確認してください。587 は starttls、465 は tls です。証明書はこのホストのものである必要があります。',
      sql_auth_failed: 'ユーザー名とパスワード、またこのアカウントの接続元の制限を確認してください。',
      sql_connection_failed: 'ホストとポート、サーバーがここからの接続を受け付けるかを確認してください。',
      sql_tls_failed:
        '暗号化の設定を確認してください。verify には、信頼された認証局が発行したこのホストの証明書が必要です。',
      sql_error: 'データベース名とアカウントの権限を確認してください。',
      ai_invalid_response:
        'プロバイダーとベース URL を確認してください。多くのサーバーでは /v1 で終わります。',
      chat_auth_failed: 'サービス側でトークンまたはアドレスを新しく作り、入力してください。',
      chat_rate_limited:
        'サービスが一時的にリクエストを受け付けていません。しばらくしてからもう一度テストしてください。',
    },
  },
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
    secret: {
      title: '署名シークレット',
      about: 'メッセージの署名や検証に使う鍵です。外部へは送信されません。',
    },
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
    secret: { value: { title: 'シークレット', hint: '相手側に表示されているとおりに。' } },
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
      api_key: {
        title: 'API キー',
        hint: 'プロバイダーに表示されているとおりに。自分のサーバーでキーが不要なら空のままにします。',
      },
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
