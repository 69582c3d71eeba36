/** Nodes that reach the outside: HTTP, webhook output, chat, mail, SQL. */
export const nodesOutsideJa: { readonly [text: string]: string } = {
  'HTTP request': 'HTTP リクエスト',
  'Calls a URL. Private and internal addresses are refused unless the operator allows them. Each request carries an Idempotency-Key that stays the same over attempts, so the receiver can tell a repeat.':
    'URL を呼び出します。プライベートアドレスや内部のアドレスは、サービスの運用者が許可しない限り拒否されます。リクエストには再試行しても変わらない Idempotency-Key が付くので、受信側は繰り返しを見分けられます。',
  Method: 'メソッド',
  'GET and HEAD carry no body. In test mode only GET is sent.':
    'GET と HEAD には本文がありません。テストモードで実際に送るのは GET だけです。',
  'How the request is sent.': 'リクエストの送り方です。',
  URL: 'URL',
  'Absolute, http or https, without user name or password.':
    'http または https の完全な URL です。ユーザー名とパスワードは含められません。',
  'Names and values; a value of null leaves the header out. Host, Content-Length, Transfer-Encoding, Connection and their like are set by the service.':
    '名前と値の組です。値が null のヘッダーは送りません。Host、Content-Length、Transfer-Encoding、Connection などはサービスが設定します。',
  'Query parameters': 'クエリパラメーター',
  'Added to the URL. A list repeats the name; null leaves it out.':
    'URL に追加します。リストなら同じ名前を繰り返し、null なら省きます。',
  'null sends none. Sent as body_type says.': 'null なら送りません。形式は「本文の形式」に従います。',
  'Body type': '本文の形式',
  'json: any value, as application/json. text: a text as it is. form: an object, as application/x-www-form-urlencoded.':
    'json: 任意の値を application/json で送ります。text: 文字列をそのまま送ります。form: オブジェクトを application/x-www-form-urlencoded で送ります。',
  None: 'なし',
  'No sign-in.': '認証しません。',
  Basic: 'Basic 認証',
  'User name and password.': 'ユーザー名とパスワードです。',
  'User name': 'ユーザー名',
  'May not hold a colon.': 'コロンは含められません。',
  Password: 'パスワード',
  'May be empty.': '空でもかまいません。',
  Bearer: 'Bearer トークン',
  'A token.': 'トークンです。',
  Token: 'トークン',
  'Sent as Authorization: Bearer.': 'Authorization: Bearer として送ります。',
  'A header of your own.': '独自のヘッダーです。',
  'Header name': 'ヘッダーの名前',
  'For example X-Api-Key.': '例: X-Api-Key',
  'Header value': 'ヘッダーの値',
  'The secret.': '秘密の値です。',
  Credential: '認証情報',
  'One that is stored encrypted.': '暗号化して保存された認証情報を使います。',
  'Sent only to the hosts that the credential is bound to.': '認証情報で許可されたホストにだけ送られます。',
  'Sign-in': '認証',
  'none, basic {username, password}, bearer {token}, header {name, value} or credential {credential_id}. Never sent on to another origin when the answer is a redirect. Secrets belong into a credential: what stands here is seen by everybody who may read the workflow.':
    'リダイレクトされても、別のオリジンには送られません。秘密の値は認証情報に保存してください。ここに書いた値は、ワークフローを閲覧できるすべての人に見えます。',
  Timeout: '制限時間',
  'Milliseconds for the whole exchange, redirects included.':
    'リダイレクトを含む、やり取り全体の制限時間（ミリ秒）です。',
  'Largest answer': '応答の最大サイズ',
  'Bytes the body of the answer may have after decompression.': '展開後の応答本文の上限（バイト）です。',
  'Follow redirects': 'リダイレクトに従う',
  'Up to 5. To another origin only as GET or HEAD and without credentials.':
    '5 回までです。別のオリジンへは GET か HEAD だけで、認証情報は付けません。',
  'Answer type': '応答の形式',
  'How the body of the answer is read. auto: JSON when its type says so, else text when it is text, else base64.':
    '応答本文の読み取り方です。auto: 種類に応じて JSON、テキスト、base64 のいずれかで読み取ります。',
  'Statuses of success': '成功とするステータス',
  'Statuses and ranges; any other is the failure http_status. 408, 425, 429 and 5xx may be retried, Retry-After is kept to.':
    'ステータスまたは範囲です。それ以外は http_status で失敗します。408、425、429、5xx は再試行の対象で、Retry-After に従います。',
  Request: 'リクエスト',
  'Read JSON': 'JSON を読み取る',
  'Send JSON with a token': 'トークンを付けて JSON を送る',
  'Sign in with a stored credential': '保存した認証情報で認証する',
  'The other side is busy': '相手が混雑している場合',

  'Webhook output': 'Webhook 送信',
  'Posts a payload outward, signed by Standard Webhooks. The id stays the same over attempts; a delivery that fails is tried again over hours, and the log of all attempts is in the output.':
    'Standard Webhooks の署名を付けて、データを外部へ送信します。再試行しても ID は変わりません。失敗した配信は数時間にわたって再試行し、すべての試行の記録が出力に入ります。',
  'Where the payload is posted to. Absolute, http or https, without user name or password.':
    '送信先です。http または https の完全な URL で、ユーザー名とパスワードは含められません。',
  'Signing secret': '署名シークレット',
  'The secret that the receiver knows, too: whsec_ and base64, as Standard Webhooks writes it.':
    '受信側と共有するシークレットです。Standard Webhooks の表記（whsec_ と base64）で保存します。',
  'Previous signing secret': '以前の署名シークレット',
  'While a secret is changed: the old one. The message then carries a signature by each; 0 for none.':
    'シークレットの切り替え中に使う、古いほうのシークレットです。両方の署名が付きます。0 ならなしです。',
  Payload: '送信データ',
  'Any value, sent as JSON. null sends the outputs of the nodes before this one, by node id.':
    '任意の値を JSON で送ります。null なら、手前のノードの出力をノード ID ごとに送ります。',
  'Event type': 'イベントの種類',
  'A name such as invoice.paid. Then the body is {type, timestamp, data} with the payload as data; without it the body is the payload.':
    'invoice.paid のような名前です。指定すると本文は {type, timestamp, data} となり、送信データが data に入ります。指定しなければ送信データがそのまま本文になります。',
  'Names and values that are sent as well; they cannot replace those that sign.':
    'あわせて送るヘッダーの名前と値です。署名用のヘッダーは置き換えられません。',
  'Milliseconds in which the receiver has to answer.': '受信側が応答するまでの制限時間（ミリ秒）です。',
  'Delays of retries': '再試行の間隔',
  'Seconds before the second attempt, the third and so on; the last one repeats. Empty: only the retry setting of the node says when. That setting says how often in any case.':
    '2 回目、3 回目…の試行までの秒数で、最後の値が繰り返されます。空ならノードの再試行の設定に従います。回数は常にその設定で決まります。',
  'Tell a partner that an invoice is paid': '請求書の支払いを取引先に知らせる',
  'The receiver is gone for good': '受信側がもう存在しない場合',

  'Chat message': 'チャットメッセージ',
  'Sends a message to Slack, Microsoft Teams, Discord, Google Chat, Mattermost, Telegram, LINE or Chatwork. Rate limits of the service are kept to; a repeat is dropped where the service can tell one (Discord bots, LINE, Google Chat).':
    'Slack、Microsoft Teams、Discord、Google Chat、Mattermost、Telegram、LINE、Chatwork にメッセージを送ります。各サービスの送信制限を守り、繰り返しを見分けられるサービス（Discord ボット、LINE、Google Chat）では二重送信を防ぎます。',
  'The chat service and how to get in: the address of an incoming webhook, or a token.':
    '送信先のチャットサービスと接続方法（受信 Webhook のアドレス、またはトークン）です。',
  Channel: 'チャンネル',
  'Where to: the id of a channel, chat, room, space or user. Needed with a token; a webhook leads to its own channel (one of Mattermost may name another).':
    '送信先のチャンネル、チャット、ルーム、スペース、ユーザーの ID です。トークンの場合は必須です。Webhook の場合は決まったチャンネルに送られます（Mattermost では変更できます）。',
  'Shown as it is: signs that the service would read as format or mention are made harmless.':
    'そのまま表示されます。書式やメンションとして解釈される記号は無効になります。',
  'chat.notify/properties/title/title': '見出し',
  'A heading above the text.': '本文の上に表示する見出しです。',
  Label: '項目名',
  'What the value is.': '値の説明です。',
  'Text, a number or a boolean; null is shown as nothing.':
    '文字列、数値、真偽値です。null は何も表示しません。',
  'Labels and values in a table below the text.': '本文の下に、表として表示する項目名と値です。',
  'Link text': 'リンクの文字',
  'What is clicked; the address when empty.': 'クリックする文字です。空ならアドレスになります。',
  'Link address': 'リンク先',
  'http or https. No link when empty.': 'http または https のアドレスです。空ならリンクを付けません。',
  Link: 'リンク',
  'A link or button below.': '下に表示するリンクまたはボタンです。',
  Colour: '色',
  'How urgent it looks, where the service can show it.': '重要度を表す色です（対応するサービスのみ）。',
  Thread: 'スレッド',
  'What it answers: ts (Slack), thread or message id (Discord), thread key or name (Google Chat), post id (Mattermost), message id or topic:id (Telegram), account:message (Chatwork).':
    '返信先です。Slack は ts、Discord はスレッドまたはメッセージの ID、Google Chat はスレッドのキーまたは名前、Mattermost は投稿 ID、Telegram はメッセージ ID または topic:ID、Chatwork は アカウント:メッセージ です。',
  'Allow mentions': 'メンションを許可',
  'Whether @everyone, <!channel>, @name and their like in the text call people.':
    '本文の @everyone、<!channel>、@名前 などで、実際に人を呼び出すかどうかです。',
  'Milliseconds for the whole exchange.': 'やり取り全体の制限時間（ミリ秒）です。',
  'Tell a channel': 'チャンネルに知らせる',
  'With a table and a link': '表とリンクを付ける',
  'The service asks for patience': '送信を控えるよう求められた場合',

  'E-mail': 'メール',
  'Hands a message to an SMTP server. Its Message-ID stays the same over attempts, so that a repeat can be told; the output says who was accepted.':
    'SMTP サーバーにメッセージを渡します。再試行しても Message-ID は変わらないので、繰り返しを見分けられます。受け付けられた宛先は出力で分かります。',
  'The SMTP server that the message is handed to.': 'メッセージを渡す SMTP サーバーです。',
  'email.send/properties/from/title': '差出人',
  'An address, or a name and an address: Shop <shop@example.com>.':
    'アドレス、または名前とアドレスです（例: Shop <shop@example.com>）。',
  'email.send/properties/to/title': '宛先',
  'A list of addresses, or text with commas.': 'アドレスのリスト、またはコンマ区切りの文字列です。',
  Cc: 'Cc',
  'Copies, seen by all.': '全員に見える写しの宛先です。',
  Bcc: 'Bcc',
  'Copies that the others do not see.': 'ほかの人には見えない写しの宛先です。',
  'Reply to': '返信先',
  'Where answers go, when not to the sender.': '差出人以外に返信を受け取りたい場合に指定します。',
  Subject: '件名',
  'One line.': '1 行で書きます。',
  'The message as plain text.': 'プレーンテキストの本文です。',
  HTML: 'HTML',
  'The message as HTML. Values in templates are put in as they are.':
    'HTML の本文です。テンプレートの値はそのまま埋め込まれます。',
  'File name': 'ファイル名',
  'As the receiver sees it.': '受信者に表示される名前です。',
  'email.send/properties/attachments/items/properties/content_type/title': 'ファイルの種類',
  'Such as text/csv or application/pdf.': '例: text/csv、application/pdf',
  'email.send/properties/attachments/items/properties/content/title': 'テキストの内容',
  'The content when it is text.': 'テキストファイルの場合の内容です。',
  Base64: 'Base64',
  'The content when it is binary.': 'バイナリーファイルの場合の内容です。',
  Attachments: '添付ファイル',
  'Files, each with content or base64; 10 MiB together.':
    'ファイルごとに、テキストまたは base64 で内容を指定します。合計 10 MiB までです。',
  'Tell the office': '社内に知らせる',
  'An invoice': '請求書を送る',
  'An address that is none': '正しくないアドレスの場合',

  'SQL query': 'SQL クエリ',
  'Runs one statement on PostgreSQL or MySQL. Values go into parameters, never into the text, so that no value can become SQL. Reads only, unless told otherwise.':
    'PostgreSQL または MySQL で 1 つの文を実行します。値は文に埋め込まずパラメーターで渡すので、値が SQL として解釈されることはありません。既定では読み取り専用です。',
  'The database and who signs in to it.': '接続するデータベースとユーザーです。',
  Query: 'クエリ',
  'One statement with $1, $2 (PostgreSQL) or ? (MySQL) where values go. It holds no templates: they belong in the parameters, and {{ here is refused when the node runs.':
    '1 つの文です。値の位置には $1、$2（PostgreSQL）または ?（MySQL）を書きます。テンプレートは使えません。{{ があると実行時に拒否されるので、値はパラメーターに書いてください。',
  Parameters: 'パラメーター',
  'Values in the order of their places; templates as you like. An object is sent as JSON; a list as an array (PostgreSQL) or as JSON (MySQL).':
    '位置の順に並べた値です。テンプレートも使えます。オブジェクトは JSON、リストは配列（PostgreSQL）または JSON（MySQL）として渡します。',
  'Read only': '読み取り専用',
  'The statement runs in a read-only transaction that is rolled back. Switch it off to write.':
    '読み取り専用のトランザクションで実行し、最後に取り消します。書き込むにはオフにしてください。',
  'Most rows': '最大行数',
  'More are not read; is_truncated then says so.':
    'これを超える行は読み取らず、is_truncated が true になります。',
  'Milliseconds after which the statement is cancelled.':
    'この時間（ミリ秒）を超えると、文の実行を取り消します。',
  'Look a customer up': '顧客を検索する',
};
