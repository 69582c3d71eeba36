/** The gallery: names, summaries and descriptions of the examples, and what they ask for. */
export const templatesJa: { readonly [text: string]: string } = {
  'Daily report': '日次レポート',
  'Every morning at eight, Berlin time, mails what was sold the day before, by currency, out of the orders database.':
    '毎朝 8 時（ベルリン時間）に、前日の売上を注文データベースから通貨別に集計してメールで送ります。',
  "Mails yesterday's sales by currency every morning, out of your orders table.":
    '前日の売上を注文テーブルから通貨別に集計し、毎朝メールで送ります。',
  'Document summary': '文書の要約',
  'Summarises a long text with a language model: part by part, then the whole out of the parts. It stops before it costs more tokens than it may.':
    '長い文章を言語モデルで要約します。部分ごとに要約してから全体をまとめ、トークンの予算を超える前に止まります。',
  'Summarises a long text with a language model, part by part and then as a whole, within a budget of tokens.':
    '長い文章を、トークンの予算の範囲で、部分ごとに要約してから全体にまとめます。',
  'Event router': 'イベントの振り分け',
  'Takes GitHub pushes and Stripe payments at one webhook, announces the commits that are new, books the payment, and sums up what was done.':
    'GitHub のプッシュと Stripe の支払いを 1 つの Webhook で受け取り、新しいコミットの通知や支払いの記帳を行い、処理した内容をまとめます。',
  'Takes GitHub pushes and Stripe payments at one webhook, announces new commits and books payments.':
    'GitHub のプッシュと Stripe の支払いを 1 つの Webhook で受け取り、新しいコミットを通知し、支払いを記帳します。',
  'Fan-out: new prices': '一斉配信: 新しい価格',
  "Sends each row of a price list to the shop's API, twenty at a time. A row that the shop refuses is listed and does not hold up the others.":
    '価格表の各行を、20 件ずつ並行してショップの API に送ります。拒否された行は一覧に残し、ほかの行の処理は続けます。',
  'Sends every row of a list to an API, 20 at a time, collects the rows that fail, and sums up.':
    'リストの各行を 20 件ずつ並行して API に送り、失敗した行を集めて結果をまとめます。',
  'GitHub issue to chat': 'GitHub の Issue をチャットへ',
  'Tells a chat channel, once for each issue, when an issue on GitHub is opened with one of the labels that matter or gets one later.':
    'GitHub の Issue に重要なラベルが付いたとき（作成時または後から）、Issue ごとに 1 回だけチャットのチャンネルに知らせます。',
  'Posts a GitHub issue to a chat channel once it carries one of the labels that matter to you.':
    '重要なラベルの付いた GitHub の Issue を、チャットのチャンネルに投稿します。',
  'Lead enrichment': '見込み客の情報補完',
  'Looks a new lead up in an enrichment service, tells sales at once when the lead is a good one, and remembers every lead with what was found.':
    '新しい見込み客の情報を外部サービスで調べ、有望ならすぐに営業に知らせ、調べた結果とともに記録します。',
  'Looks up who sent a form, tells sales in chat when the score is high, and remembers every lead.':
    'フォームの送信者を調べ、スコアが高ければチャットで営業に知らせ、すべての見込み客を記録します。',
  'Nightly sync': '夜間の同期',
  'Every night, copies all customers page by page from the shop into the CRM. A fault that lasts starts the workflow that raises the alarm.':
    '毎晩、すべての顧客をショップから CRM へページ単位でコピーします。障害が続く場合は、警報のワークフローを開始します。',
  'Copies all customers page by page from one system to another each night; raises the alarm when it fails.':
    '毎晩、すべての顧客を別のシステムへページ単位でコピーし、失敗したら警報を出します。',
  'Nightly sync: alarm': '夜間の同期: 警報',
  'Order paid': '注文の支払い完了',
  'Takes the payments that Stripe reports, books each of them once in the orders database, and mails the customer an invoice.':
    'Stripe から通知された支払いを、注文データベースに 1 回だけ記帳し、顧客に請求書をメールで送ります。',
  'Books each payment that Stripe reports once in your orders table and mails the customer an invoice.':
    'Stripe から通知された支払いを注文テーブルに 1 回だけ記帳し、顧客に請求書を送ります。',
  'Refund approval': '返金の承認',
  'Asks a person before money is paid back, pays it back at most once, and tells the team what came of it.':
    '返金の前に人の承認を求め、返金は 1 回だけ行い、結果をチームに知らせます。',
  'Asks a person in chat before a refund is paid, pays it once, and tells the team what came of it.':
    'チャットで返金の承認を求め、1 回だけ返金し、結果をチームに知らせます。',
  'Support triage': '問い合わせの仕分け',
  'Reads each support mail with a language model, calls people at once when it is urgent, and else drafts an answer, which goes out when a person has approved it.':
    '問い合わせメールを言語モデルで読み取ります。緊急ならすぐに担当者を呼び、そうでなければ返信の下書きを作り、人が承認してから送ります。',
  'Sorts support mails with a language model, drafts answers, and sends one when a person has approved it.':
    '問い合わせメールを言語モデルで仕分けして返信の下書きを作り、人が承認してから送ります。',
  'Webhook fan-in': 'Webhook の集約',
  'Takes the shipping events of all shops, counts each event once however often it is delivered, and starts the digest for a shop after every so many of them.':
    'すべてのショップの配送イベントを受け取り、重複なく数え、決まった件数ごとにそのショップのまとめを開始します。',
  'Collects events of many senders at one webhook, counts each once, and calls a second workflow for every tenth.':
    '多くの送信元のイベントを 1 つの Webhook に集めて重複なく数え、10 件ごとに別のワークフローを呼び出します。',
  'Webhook fan-in: digest': 'Webhook の集約: まとめ',

  'Credential of the PostgreSQL database with the table orders (see ../order-paid/orders.sql)':
    'テーブル orders のある PostgreSQL データベースの認証情報（../order-paid/orders.sql を参照）',
  'Credential of the PostgreSQL database with the table orders (see orders.sql)':
    'テーブル orders のある PostgreSQL データベースの認証情報（orders.sql を参照）',
  'Credential of the mail server': 'メールサーバーの認証情報',
  'Sender of the report: Name <address>': 'レポートの差出人（名前 <アドレス>）',
  'Who gets it: addresses with commas between them': '宛先（コンマ区切りのアドレス）',
  'Time zone of the schedule and of what counts as yesterday, such as Europe/Berlin':
    'スケジュールと「前日」の基準になるタイムゾーン（例: Asia/Tokyo）',
  "Credential of the model's provider": 'モデルのプロバイダーの認証情報',
  'Name of the model, as the provider calls it': 'プロバイダーでのモデル名',
  'Characters of a part; a model reads about four of them as a token':
    '1 つの部分の文字数（英文では約 4 文字が 1 トークン）',
  'Base URL of the service that is told: POST /announcements, /large-payments and /payments':
    '通知先のサービスのベース URL（POST /announcements、/large-payments、/payments）',
  "Base URL of the shop's API: PUT /products/<sku>/price takes price_cents and currency":
    'ショップの API のベース URL（PUT /products/<sku>/price が price_cents と currency を受け取ります）',
  'Credential that signs in to the shop': 'ショップに接続する認証情報',
  'Credential of the chat service': 'チャットサービスの認証情報',
  'Channel, when the chat credential holds a token; empty for an incoming webhook':
    'チャンネル（チャットの認証情報がトークンの場合）。受信 Webhook なら空にします',
  "Credential with the secret that you set in the webhook's settings on GitHub":
    'GitHub の Webhook の設定で決めたシークレットの認証情報',
  'List of the labels that matter, such as ["bug", "security"]':
    '重要なラベルのリスト（例: ["bug", "security"]）',
  'Base URL of the enrichment service: GET /v1/people?email=... answers score, title and company':
    '情報を調べるサービスのベース URL（GET /v1/people?email=... が score、title、company を返します）',
  'Credential that signs in to the enrichment service': '情報を調べるサービスに接続する認証情報',
  'Score from which sales is told at once': 'すぐに営業に知らせるスコアの下限',
  'Base URL to read from: GET /customers?page=1 answers customers and next_page':
    '読み取り元のベース URL（GET /customers?page=1 が customers と next_page を返します）',
  'Credential that signs in there': '接続する認証情報',
  'Customers on a page': '1 ページの顧客数',
  'Base URL to write to: POST /contacts/upsert takes contacts and answers created and updated':
    '書き込み先のベース URL（POST /contacts/upsert が contacts を受け取り、created と updated を返します）',
  'Credential of the chat service for the alarm': '警報を送るチャットサービスの認証情報',
  'Time zone of the schedule, such as Europe/Berlin': 'スケジュールのタイムゾーン（例: Asia/Tokyo）',
  'Credential with the signing secret of the Stripe webhook (whsec_...)':
    'Stripe の Webhook の署名シークレット（whsec_…）の認証情報',
  'Sender of the invoices: Name <address>': '請求書の差出人（名前 <アドレス>）',
  'Address that gets a blind copy of each invoice': '請求書の写し（Bcc）を受け取るアドレス',
  'Your name, below the invoice': '請求書の末尾に入る名前',
  'Base URL of the payment service: POST /refunds pays back and heeds the Idempotency-Key':
    '決済サービスのベース URL（POST /refunds が返金を行い、Idempotency-Key に従います）',
  'Credential that signs in to the payment service': '決済サービスに接続する認証情報',
  'Credential of the chat where the people are who may decide': '承認する人がいるチャットの認証情報',
  'Your name, as the model knows it': 'モデルに伝える会社やチームの名前',
  'Sender of the answers: Name <address>': '返信の差出人（名前 <アドレス>）',
  'Where drafts are sent to be approved': '承認を求める下書きの送り先',
  'Credential of the chat that is told of urgent mails': '緊急のメールを知らせるチャットの認証情報',
  'After how many events of a shop the digest is sent': 'まとめを送るまでのイベント数（ショップごと）',
  'Credential of the chat service for the digest': 'まとめを送るチャットサービスの認証情報',

  // What is asked for, by its name.
  orders_database: '注文データベース',
  mail_credential: 'メールの認証情報',
  mail_from: '差出人',
  mail_to: '宛先',
  timezone: 'タイムゾーン',
  ai_credential: 'AI の認証情報',
  ai_model: 'AI のモデル',
  part_characters: '部分の文字数',
  receiver_url: '通知先の URL',
  shop_url: 'ショップの URL',
  shop_credential: 'ショップの認証情報',
  chat_credential: 'チャットの認証情報',
  chat_channel: 'チャットのチャンネル',
  github_secret: 'GitHub のシークレット',
  labels: 'ラベル',
  enrichment_url: '調査サービスの URL',
  enrichment_credential: '調査サービスの認証情報',
  hot_score: '有望とするスコア',
  page_size: '1 ページの件数',
  crm_url: 'CRM の URL',
  crm_credential: 'CRM の認証情報',
  stripe_secret: 'Stripe のシークレット',
  accounts_email: '経理のメールアドレス',
  company: '会社名',
  payments_url: '決済サービスの URL',
  payments_credential: '決済サービスの認証情報',
  support_email: 'サポートの差出人',
  team_email: 'チームのメールアドレス',
  digest_every: 'まとめの間隔（件数）',
};
