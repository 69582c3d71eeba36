/** Triggers, waits and calls of other workflows. */
export const nodesStartJa: { readonly [text: string]: string } = {
  'Manual start': '手動開始',
  'Where an execution begins that is started through the API, the command line or the admin area.':
    'API、コマンドライン、管理画面から開始された実行の始点です。',
  'Hand the input to the workflow': '入力をワークフローに渡す',

  Schedule: 'スケジュール',
  'Where an execution begins that is started by the clock. Active workflows only; each fire starts one execution, however many processes run.':
    '決まった日時に開始される実行の始点です。有効なワークフローだけが対象で、プロセスがいくつ動いていても、1 回の起動で開始される実行は 1 つです。',
  Kind: '種類',
  'By a cron expression.': 'cron 式で指定します。',
  'Cron expression': 'cron 式',
  'Minute, hour, day of the month, month, day of the week, with seconds in front when there are six fields; or a name such as @daily.':
    '分、時、日、月、曜日の順に書きます。6 項目のときは先頭が秒です。@daily のような名前も使えます。',
  Cron: 'cron',
  'Every so often.': '一定の間隔で起動します。',
  Every: '一定間隔',
  'trigger.schedule/properties/schedule/anyOf/1/properties/every/title': '間隔',
  'How many units lie between two fires.': '次に起動するまでの長さを、下の単位で数えます。',
  Unit: '単位',
  'What is counted. A day is 24 hours.': '数える単位です。1 日は 24 時間です。',
  'When it fires. Intervals are elapsed time, counted from midnight of 1 January 2001 in the time zone.':
    '起動する日時です。一定間隔は、タイムゾーンでの 2001 年 1 月 1 日 0 時からの経過時間で数えます。',
  'Time zone': 'タイムゾーン',
  'IANA name of the zone whose clock the schedule follows, such as Europe/Berlin.':
    'スケジュールが従うタイムゾーンの IANA 名です（例: Asia/Tokyo）。',
  'Jitter in seconds': 'ばらつき（秒）',
  'Each fire is delayed by a part of this, always the same for the same fire. Less than the time between two fires.':
    '起動をこの秒数までの範囲で遅らせます。同じ起動の遅れは常に同じです。起動の間隔より短くしてください。',
  Overlap: '重なったとき',
  'While an earlier execution of the schedule has not ended: start all the same, skip the fire, or start it afterwards.':
    '前回の実行が終わっていないときの扱いです。そのまま開始する、見送る、終わってから開始する、から選びます。',
  'Missed fires': '起動できなかった分',
  'Fires that came while no process ran: skip them, start one execution for all of them, or start each. Looks back 24 hours.':
    'サービスの停止中に過ぎた起動の扱いです。見送る、まとめて 1 回実行する、すべて実行する、から選びます。24 時間前までさかのぼります。',
  Input: '入力',
  'What the workflow reads as {{trigger.data.input}}. Constants only.':
    'ワークフローから {{trigger.data.input}} として参照する値です。テンプレートは使えません。',
  'At nine on working days, Berlin time': '平日の 9 時（ベルリン時間）',
  'Every 15 minutes, one after the other': '15 分ごと、重ならないように順に実行',

  Webhook: 'Webhook',
  'Where an execution begins that is started by a call to the public URL of the workflow. Any JSON body is taken as it is.':
    'ワークフローの公開 URL への呼び出しで開始される実行の始点です。本文の JSON はそのまま受け取ります。',
  'Signed as by': '署名の方式',
  'The service that calls, or hmac for any other that signs with a shared secret.':
    '呼び出し元のサービスです。共有シークレットで署名するその他の呼び出し元には hmac を選びます。',
  Secret: 'シークレット',
  'Credential of type secret that holds the key.': '鍵を保存した「署名シークレット」型の認証情報です。',
  'Former secret': '以前のシークレット',
  'A second key that is accepted too, while the sender changes to the new one.':
    '呼び出し元が新しい鍵に切り替えるまでの間、あわせて受け付ける鍵です。',
  'Tolerance in seconds': '時刻の許容差（秒）',
  'How far the time of a signature may be from now, where it has one.':
    '署名に時刻が含まれる場合に、現在時刻との差をどこまで許すかです。',
  Header: 'ヘッダー',
  'For hmac: the header that carries the signature.': 'hmac の場合: 署名が入るヘッダーです。',
  Prefix: '接頭辞',
  'For hmac: what stands before the signature, such as sha256=.':
    'hmac の場合: 署名の前に付く文字列です（例: sha256=）。',
  Algorithm: 'アルゴリズム',
  'For hmac: the hash.': 'hmac の場合: ハッシュの種類です。',
  Encoding: 'エンコード',
  'For hmac: how the signature is written.': 'hmac の場合: 署名の表記です。',
  'Time header': '時刻のヘッダー',
  'For hmac: the header with the time, in seconds or milliseconds since 1970; empty when there is none.':
    'hmac の場合: 時刻が入るヘッダーです。1970 年からの秒またはミリ秒で表します。なければ空にします。',
  'What is signed': '署名の対象',
  'For hmac: the body alone, or the time, a full stop and the body.':
    'hmac の場合: 本文だけ、または「時刻・ピリオド・本文」をつないだものです。',
  Signature: '署名',
  'Calls must be signed; others are refused with 401.':
    '署名された呼び出しだけを受け付け、それ以外は 401 で拒否します。',
  'Where the id stands': 'ID の位置',
  'In the body or in a header.': '本文の中か、ヘッダーかを選びます。',
  'Path or header': 'パスまたはヘッダー',
  'The path in the body, such as id or event.id, or the name of the header.':
    '本文の中のパス（例: id、event.id）、またはヘッダーの名前です。',
  'Window in seconds': '記憶する時間（秒）',
  'How long an event is remembered, at most seven days.': 'イベントを覚えておく長さです。最長 7 日です。',
  'Without an id': 'ID がないとき',
  'What becomes of a call that has no id there: it starts, or it is refused with 422.':
    'ID のない呼び出しの扱いです。開始するか、422 で拒否するかを選びます。',
  'De-duplication': '重複の除外',
  'A call with an id that was seen before starts nothing and is answered with the first execution.':
    '同じ ID の呼び出しでは新しい実行を開始せず、最初の実行を返します。',
  'Allowed addresses': '許可するアドレス',
  'IP addresses and networks (203.0.113.7, 203.0.113.0/24, 2001:db8::/32) that may call; all when empty.':
    '呼び出しを許可する IP アドレスとネットワーク（203.0.113.7、203.0.113.0/24、2001:db8::/32 など）です。空ならすべて許可します。',
  'trigger.webhook/properties/respond/title': '応答のしかた',
  'At once with the receipt, or with an answer of your own when the execution has ended.':
    'すぐに受付票を返すか、実行が終わってから独自の応答を返すかを選びます。',
  Status: 'ステータス',
  'HTTP status of the answer.': '応答の HTTP ステータスです。',
  Headers: 'ヘッダー',
  'Names and values.': '名前と値の組です。',
  Body: '本文',
  'A text is sent as text/plain, anything else as JSON, null as nothing.':
    '文字列は text/plain、それ以外は JSON として返します。null なら何も返しません。',
  Response: '応答',
  'With "when_done": the answer. Templates in it may read the output of every node.':
    '「when_done」の場合の応答です。テンプレートから、すべてのノードの出力を参照できます。',
  'Longest wait in seconds': '最長の待ち時間（秒）',
  'With "when_done": an execution that takes longer is answered with the receipt, and goes on.':
    '「when_done」の場合: これより長くかかるときは受付票を返し、実行は続けます。',
  'Status of a failure': '失敗時のステータス',
  'With "when_done": the HTTP status when the execution fails or is cancelled.':
    '「when_done」の場合: 実行が失敗またはキャンセルされたときの HTTP ステータスです。',
  'Take the body of a call': '呼び出しの本文を受け取る',
  'A body need not be an object': '本文はオブジェクトでなくてもよい',
  'Signed calls from GitHub, each event once': 'GitHub からの署名付き呼び出しを、イベントごとに 1 回だけ処理',
  'Answer the caller when the workflow is done': 'ワークフローが終わってから呼び出し元に応答する',

  'Wait for a callback': 'コールバックを待つ',
  'Sends a request with a one-time address, then waits until somebody posts to that address: the JSON body is the output, under data when it is no object. Waiting holds no worker. When nobody posts in time, the branch timeout is taken. The address is a secret; it is shown nowhere. Another attempt of a loop around this node is given the answer that came before.':
    '1 回だけ使えるアドレスを付けてリクエストを送り、そのアドレスに POST されるまで待ちます。届いた JSON の本文が出力です（オブジェクトでなければ data に入ります）。待機中はワーカーを占有しません。時間内に届かなければ timeout の分岐へ進みます。アドレスは秘密であり、どこにも表示されません。外側のループが再試行されたときは、前に届いた応答を使います。',
  'The request that hands the address over: the settings of an HTTP request. {{args.callback_url}} is the address; write it into the body, the query or a header.':
    'アドレスを渡すリクエストです（HTTP リクエストと同じ設定）。{{args.callback_url}} がアドレスになるので、本文、クエリ、ヘッダーのいずれかに書いてください。',
  'Wait at most': '待ち時間の上限',
  'Seconds to wait for the callback. At most 30 days.': 'コールバックを待つ秒数です。最長 30 日です。',
  'Let another system work on it': '別のシステムに処理を任せる',
  'No request': 'リクエストなし',

  'Wait for an approval': '承認を待つ',
  'Asks a person to decide, in the admin area or by a link in a message, and waits without holding a worker. The first decision counts. Following a link decides nothing by itself: the page it leads to has the buttons. Whoever has a link can decide, so send it only to those who may. Another attempt of a loop around this node is given the decision that came before.':
    '管理画面またはメッセージのリンクで人に判断を求め、ワーカーを占有せずに待ちます。最初の判断が採用されます。リンクを開いただけでは決まらず、開いたページのボタンで決定します。リンクを知っている人は誰でも判断できるため、権限のある人にだけ送ってください。外側のループが再試行されたときは、前の判断を使います。',
  'wait.approval/properties/title/title': '件名',
  'What is asked, in one line.': '判断してほしい内容を 1 行で書きます。',
  Text: '本文',
  'What one needs to know to decide. Shown as plain text.':
    '判断に必要な情報です。プレーンテキストとして表示されます。',
  Id: 'ID',
  'Names the branch and the decision: small letters, digits and underscores.':
    '分岐と判断の名前です。英小文字、数字、アンダースコアが使えます。',
  'wait.approval/properties/choices/items/properties/label/title': 'ボタンの文字',
  'What stands on the button.': 'ボタンに表示する文字です。',
  Choices: '選択肢',
  'What can be decided. Each one is a branch with its id.':
    '選べる判断です。それぞれが、ID と同じ名前の分岐になります。',
  'Seconds to wait for the decision; then the branch timeout is taken. At most 30 days.':
    '判断を待つ秒数です。過ぎると timeout の分岐へ進みます。最長 30 日です。',
  'wait.approval/properties/notify/anyOf/0/properties/type/title': '送信方法',
  'The node that sends the message.': 'メッセージを送るノードです。',
  Message: 'メッセージ',
  'The settings of that node.': 'そのノードの設定です。',
  'A chat message or an e-mail that asks for the decision. {{args.approval_url}} is the page with all choices, {{args.approve_url}} and {{args.reject_url}} (or the id of another choice with _url) the same page with that choice made ready. null: none.':
    '判断を求めるチャットメッセージまたはメールです。{{args.approval_url}} はすべての選択肢が並ぶページ、{{args.approve_url}} と {{args.reject_url}}（ほかの選択肢では「ID_url」）は、その選択肢を選んだ状態の同じページです。null なら送りません。',
  'An HTTP request that asks for the decision, with the same addresses. null: none.':
    '判断を求める HTTP リクエストです。同じアドレスが使えます。null なら送りません。',
  'Ask in a chat whether to refund': '返金してよいかをチャットで尋ねる',
  'Choices of your own': '独自の選択肢',
  'Two choices of one id': '同じ ID の選択肢が 2 つ',

  'Call a workflow': 'ワークフローの呼び出し',
  'Starts another workflow of the organisation with the version that is saved now, and waits for its end or not. The input must fit its input schema. At most 10 executions start one another. When this execution ends or is cancelled, one that it waits for is cancelled too.':
    '組織内の別のワークフローを、現在保存されているバージョンで開始します。終了を待つかどうかを選べます。入力は、相手の入力スキーマに合う必要があります。呼び出しの連鎖は 10 段までです。この実行が終了またはキャンセルされると、待っている実行もキャンセルされます。',
  Workflow: 'ワークフロー',
  'Id of the workflow to start.': '開始するワークフローの ID です。',
  'What the workflow reads as {{trigger.data}}. Any JSON value.':
    '相手のワークフローから {{trigger.data}} として参照される値です。任意の JSON 値を渡せます。',
  'Wait for its end': '終了を待つ',
  'true: the output is the result of the workflow, and its failure is the failure child_failed of this node, which may be retried. false: this node ends at once.':
    'オン: 相手の結果が出力になり、相手が失敗するとこのノードも child_failed で失敗します（再試行できます）。オフ: このノードはすぐに終わります。',
  'Seconds after which the node fails with child_timeout; the other execution goes on until this one ends. null: as long as it takes.':
    'この秒数を過ぎると child_timeout で失敗します。相手の実行は、この実行が終わるまで続きます。null なら終わるまで待ちます。',
  'Wait for the result': '結果を待つ',
  'Start and go on': '開始して先へ進む',
};
