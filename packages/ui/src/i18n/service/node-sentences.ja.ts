/** What nodes find when they run: settings whose values do not fit, data of another kind, refusals of the other side. */
export const nodeSentencesJa: { readonly [sentence: string]: string } = {
  'the schema refuses them.': 'スキーマに合いません。',

  // Data.
  'Step {} ({}) {}.': '手順 {0}（{1}）: {2}。',
  'does not know the time zone {}; write one such as Asia/Tokyo or UTC':
    'タイムゾーン {0} はありません。Asia/Tokyo や UTC のように書いてください',
  'needs a date, but {} is {}': '日付が必要ですが、{0} は{1}です',
  'needs a number, but {} is {}': '数値が必要ですが、{0} は{1}です',
  'needs objects, but {} is {}': 'オブジェクトが必要ですが、{0} は{1}です',
  'needs objects, but item {} of {} is {}': 'オブジェクトが必要ですが、{1} の要素 {0} は{2}です',
  'needs a list, but has {}': 'リストが必要ですが、{0}です',
  'needs a list in config.with, but has {}': 'config.with にはリストが必要ですが、{0}です',
  'needs a list, but {} of item {} is {}': 'リストが必要ですが、要素 {1} の {0} は{2}です',
  'needs a text, but {} is {}': 'テキストが必要ですが、{0} は{1}です',
  'needs numbers, but {} is {}': '数値が必要ですが、{0} は{1}です',
  'needs numbers or texts, but {} is {}': '数値またはテキストが必要ですが、{0} は{1}です',
  'has two results with the name {}; give one another name':
    '結果の名前 {0} が重複しています。一方を別の名前にしてください',
  'cannot compare {} with {}: {}': '{0}と{1}は比べられません: {2}',
  'would make more than {} items': '要素が {0} 件を超えます',

  // Chat.
  'The credential for Chatwork needs an API token as its "Token".':
    'Chatwork の認証情報には、「トークン」として API トークンが必要です。',
  'The credential for Discord needs a "Webhook URL" or the "Token" of a bot.':
    'Discord の認証情報には、「Webhook URL」またはボットの「トークン」が必要です。',
  'The credential for Google Chat needs a "Webhook URL" or, as its "Token", an access token.':
    'Google Chat の認証情報には、「Webhook URL」か、「トークン」としてアクセストークンが必要です。',
  'The credential for LINE needs a channel access token as its "Token".':
    'LINE の認証情報には、「トークン」としてチャネルアクセストークンが必要です。',
  'The credential for Mattermost needs a "Webhook URL" or the "Token" of a bot.':
    'Mattermost の認証情報には、「Webhook URL」またはボットの「トークン」が必要です。',
  'The credential for Slack needs a "Webhook URL" or the "Token" of a bot.':
    'Slack の認証情報には、「Webhook URL」またはボットの「トークン」が必要です。',
  'The credential for Microsoft Teams needs the "Webhook URL" of a workflow.':
    'Microsoft Teams の認証情報には、ワークフローの「Webhook URL」が必要です。',
  'The credential for Telegram needs the "Token" of a bot.':
    'Telegram の認証情報には、ボットの「トークン」が必要です。',
  'The credential\'s "Token" is not one of a Telegram bot (123456:ABC...).':
    '認証情報の「トークン」が Telegram のボットのもの（123456:ABC...）ではありません。',
  'The credential needs a "Token" of the service.': '認証情報には、サービスの「トークン」が必要です。',
  'The credential\'s "Webhook URL" is not a URL. Copy it anew from {}.':
    '認証情報の「Webhook URL」が URL ではありません。{0} からコピーし直してください。',
  '"Webhook URL" and "Server" of the credential name different servers. Make them the same, or leave "Server" empty.':
    '認証情報の「Webhook URL」と「サーバー」が別のサーバーを指しています。同じにするか、「サーバー」を空にしてください。',
  'The credential needs "Server", the address of your {} server, besides "Webhook URL".':
    '認証情報には「Webhook URL」に加えて、{0} サーバーのアドレスである「サーバー」が必要です。',
  'The credential\'s "Webhook URL" does not lead to {} (https, {}). Copy it anew, or fill in "Server" when the server is your own.':
    '認証情報の「Webhook URL」が {0} のもの（https、{1}）ではありません。コピーし直すか、自社運用のサーバーなら「サーバー」を入力してください。',
  'The credential needs "Server", the address of your server.':
    '認証情報には、サーバーのアドレスである「サーバー」が必要です。',
  'The credential\'s "Token" holds a character that no token has.':
    '認証情報の「トークン」に、使えない文字が含まれています。',
  'The credential\'s "Server" is not an http or https URL.':
    '認証情報の「サーバー」が http または https の URL ではありません。',
  'config.channel is needed: {}.': 'config.channel が必要です: {0}。',
  'the id of the Chatwork room': 'Chatwork のルームの ID',
  'the id of the Discord channel or thread': 'Discord のチャンネルまたはスレッドの ID',
  'the space, such as spaces/AAAAAAAAAAA': 'spaces/AAAAAAAAAAA のようなスペース',
  'the id of the user, group or room': 'ユーザー、グループまたはルームの ID',
  'the id of the Mattermost channel': 'Mattermost のチャンネルの ID',
  'the id of the Slack channel, such as C0123456789': 'C0123456789 のような Slack のチャンネルの ID',
  'the id of the chat, or @name of a public channel': 'チャットの ID、または公開チャンネルの @ 名',
  '{}, not {}.': '{0}（現在の値: {1}）。',
  'config.channel must be the id of a room, digits only':
    'config.channel は数字だけのルームの ID でなければなりません',
  'config.thread must be account:message, both ids of Chatwork':
    'config.thread は「アカウント:メッセージ」の形の Chatwork の ID でなければなりません',
  'config.thread must be an id of Discord': 'config.thread は Discord の ID でなければなりません',
  'config.channel must be an id of Discord': 'config.channel は Discord の ID でなければなりません',
  'config.channel must be a space such as spaces/AAAAAAAAAAA':
    'config.channel は spaces/AAAAAAAAAAA のようなスペースでなければなりません',
  'config.channel must be the id of a user, group or room of LINE (U, C or R and 32 digits)':
    'config.channel は LINE のユーザー、グループまたはルームの ID（U、C、R と 32 桁）でなければなりません',
  'config.channel must be the id of a chat or @name of a public channel':
    'config.channel はチャットの ID か、公開チャンネルの @ 名でなければなりません',
  'A webhook of {} leads to one channel. Remove config.channel, or use a credential with a token.':
    '{0} の Webhook の送信先は 1 つのチャンネルだけです。config.channel を削除するか、トークンのある認証情報を使ってください。',
  'A webhook of Mattermost cannot answer in a thread. Remove config.thread, or use a credential with a token.':
    'Mattermost の Webhook はスレッドに返信できません。config.thread を削除するか、トークンのある認証情報を使ってください。',
  '{} has no threads here. Remove config.thread.':
    '{0} ではスレッドを使えません。config.thread を削除してください。',
  'There is nothing to send: give config.text, title, fields or link.':
    '送信する内容がありません。config.text、title、fields、link のいずれかを指定してください。',
  'config.link.url must be an http or https URL.':
    'config.link.url は http または https の URL でなければなりません。',
  '{} has {} {} as it would be sent; {} takes {}. Shorten it, for example with the filter slice, or send several messages.':
    '送信される {0} は {1} {2}ですが、{3} の上限は {4} です。slice フィルターなどで短くするか、複数に分けて送信してください。',
  '{} has {} entries; {} takes {}.': '{0} は {1} 件ですが、{2} の上限は {3} 件です。',
  '{} takes no more messages for now: {}.': '{0} は現在、メッセージを受け付けません: {1}。',
  '{} does not accept the credential, or it may not write there: {}.':
    '{0} が認証情報を受け付けないか、送信先への書き込みが許可されていません: {1}。',
  '{} refused the message: {}.': '{0} がメッセージを拒否しました: {1}。',
  '{} could not take the message: {}.': '{0} がメッセージを受け取れませんでした: {1}。',

  // Mail.
  '{} holds a line break or another control character.': '{0} に改行などの制御文字が含まれています。',
  '{} holds a line break or another control character. Put it on one line.':
    '{0} に改行などの制御文字が含まれています。1 行にしてください。',
  '{} holds {}, which is no e-mail address. Write ada@example.com or Ada Lovelace <ada@example.com>.':
    '{0} の{1}はメールアドレスではありません。ada@example.com または Ada Lovelace <ada@example.com> のように書いてください。',
  'config.from must hold one address': 'config.from にはアドレスを 1 つだけ指定してください',
  'config.reply_to must hold one address': 'config.reply_to にはアドレスを 1 つだけ指定してください',
  'There is nobody to send to: give config.to, cc or bcc.':
    '宛先がありません。config.to、cc、bcc のいずれかを指定してください。',
  'The message has {} recipients, more than {}. Send several.':
    '宛先が {0} 件あり、上限の {1} 件を超えています。分けて送信してください。',
  'The message is empty: give config.text, html or attachments.':
    'メッセージが空です。config.text、html、attachments のいずれかを指定してください。',
  '{}.filename is empty.': '{0}.filename が空です。',
  '{}.content_type is not a type such as text/csv.':
    '{0}.content_type が text/csv のような種類ではありません。',
  'The attachments are larger than {} bytes together. Send a link instead.':
    '添付ファイルの合計が {0} バイトを超えています。代わりにリンクを送ってください。',
  '{} has content and base64. Give one of them.':
    '{0} に content と base64 の両方があります。どちらか一方にしてください。',
  '{}.base64 is not base64.': '{0}.base64 が base64 ではありません。',

  // HTTP.
  'The header {} is set by the credential and by config.headers. Remove it from config.headers.':
    'ヘッダー {0} が認証情報と config.headers の両方で設定されています。config.headers から削除してください。',
  'The header {} is set by config.auth and by config.headers. Set it once.':
    'ヘッダー {0} が config.auth と config.headers の両方で設定されています。一方だけにしてください。',
  'config.url must be an absolute http or https URL, such as https://api.example.com/orders.':
    'config.url は https://api.example.com/orders のような http または https の絶対 URL でなければなりません。',
  'config.url may not hold a user name or password. Put them into config.auth.':
    'config.url にユーザー名とパスワードは書けません。config.auth で指定してください。',
  'The header {} is set by the service. Remove it from config.headers.':
    'ヘッダー {0} はサービスが設定します。config.headers から削除してください。',
  '{} in {} cannot be the name of a header.': '{1} の {0} はヘッダーの名前に使えません。',
  'The value of {} in {} holds a line break or a character that a header cannot carry.':
    '{1} の {0} の値に、改行など、ヘッダーに使えない文字が含まれています。',
  'config.auth.username may not hold a colon.': 'config.auth.username にコロンは使えません。',
  'config.auth.name may not be {}: the service sets that header.':
    'config.auth.name に {0} は使えません。そのヘッダーはサービスが設定します。',
  'A {} request carries no body. Remove config.body or choose another method.':
    '{0} リクエストに本文は付けられません。config.body を削除するか、別のメソッドを選んでください。',
  'config.body must be an object for a form, but is {}.':
    'フォームの config.body はオブジェクトでなければなりませんが、{0}です。',
  'config.body must be text for body_type text, but is {}.':
    'body_type が text のとき、config.body はテキストでなければなりませんが、{0}です。',
  '{} must be text, a number or a boolean, but is {}.':
    '{0} はテキスト、数値、真偽値のいずれかでなければなりませんが、{1}です。',
  'config.{} must be the settings of an HTTP request, but is {}.':
    'config.{0} は HTTP リクエストの設定でなければなりませんが、{1}です。',
  'config.{}.method must be one of {}.': 'config.{0}.method は {1} のいずれかでなければなりません。',
  'The credential {} holds no signing secret of Standard Webhooks. It must be base64, such as whsec_MfKQ9r8G...; 24 to 64 random bytes.':
    '認証情報 {0} の署名シークレットが Standard Webhooks の形式ではありません。whsec_MfKQ9r8G... のような、24～64 バイトの乱数の base64 でなければなりません。',

  // Waiting and ending.
  'Give exactly one of config.duration_ms, config.duration and config.until; {} are given (null, as a template gives for what is not there, counts as not given).':
    'config.duration_ms、config.duration、config.until のうち 1 つだけを指定してください。現在 {0} 個です（テンプレートの参照先がないときの null は、指定なしとみなされます）。',
  'config.until must be an RFC 3339 timestamp with offset, such as 2026-11-20T09:30:00+09:00.':
    'config.until は 2026-11-20T09:30:00+09:00 のような、オフセット付きの RFC 3339 の日時でなければなりません。',
  'The workflow was ended by a Fail node.': '「失敗させる」ノードがワークフローを終了しました。',
  'config.choices may not have the id {}: that branch exists already.':
    'config.choices の ID に {0} は使えません。同じ名前の分岐がすでにあります。',
  'config.choices has the id {} twice. Give each choice its own.':
    'config.choices の ID {0} が重複しています。選択肢ごとに別の ID にしてください。',

  // Models.
  'config.model must be the name of a model, such as gpt-4.1-mini: letters, digits and . _ - : / @ +.':
    'config.model は gpt-4.1-mini のようなモデルの名前でなければなりません（英数字と . _ - : / @ +）。',
  'config.prompt is empty. Write what the model should answer to, or check what the template leads to.':
    'config.prompt が空です。モデルへの依頼を書くか、テンプレートの参照先を確認してください。',
  'config.schema cannot be used: {}.': 'config.schema を使えません: {0}。',
  'config.tools must be a list of tools.': 'config.tools はツールのリストでなければなりません。',
  'config.tools has more than {} tools.': 'config.tools のツールが {0} 個を超えています。',
  'config.tools.{} does not fit. A tool has name, description and parameters, and either kind node with type and config, or kind workflow with workflow_id.':
    'config.tools.{0} が正しくありません。ツールには name、description、parameters と、kind が node なら type と config、workflow なら workflow_id が必要です。',

  // Templates.
  'The rendered text would be larger than {} bytes. Pass on less data.':
    '作成されるテキストが {0} バイトを超えます。渡すデータを減らしてください。',
  'JSON is nested deeper than {} levels': 'JSON の入れ子が {0} 段を超えています',
};

/** What stands inside the sentences above. */
export const nodePartsJa: { readonly [part: string]: string } = {
  text: 'テキスト',
  list: 'リスト',
  object: 'オブジェクト',
  number: '数値',
  boolean: '真偽値',
  'a text': 'テキスト',
  'a list': 'リスト',
  'a boolean': '真偽値',
  'a text that is no {}': '{0}ではないテキスト',
  date: '日付',
  'the data': 'データ',
  'item {}': '要素 {0}',
  '{} of item {}': '要素 {1} の {0}',
  '{} of the data': 'データの {0}',
  'The message': 'メッセージ',
  'The label of a field': '項目の名前',
  'config.text and config.link': 'config.text と config.link',
  'config.text beside other parts': 'ほかの部分と合わせた config.text',
  characters: '文字',
  bytes: 'バイト',
  'the input': '入力',
  "the input's {}": '入力の {0}',
  'the answer': '回答',
  'The other side': '相手',
  'The provider': 'プロバイダー',
  'an unknown host': '不明なホスト',
  'no host': 'なし',
  'unknown reason': '不明な理由',
  'too large': '大きすぎる状態',
  'nested too deeply': '入れ子が深すぎる状態',
};
