/** Why something outside of the service could not be reached or used, where a service of the nodes says so. */
export const serviceSentencesJa: { readonly [sentence: string]: string } = {
  // Calls to other hosts.
  '{}: {} ({}).': '{0}: {1}（{2}）。',
  'The headers of the answer of {} are too large.': '{0} の応答のヘッダーが大きすぎます。',
  '{} did not accept a connection in time.': '{0} が時間内に接続を受け付けませんでした。',
  '{} did not accept a connection within {} ms.': '{0} が {1} ms 以内に接続を受け付けませんでした。',
  'The request to {} cannot be sent: {}.': '{0} へのリクエストを送信できません: {1}。',
  'the name could not be resolved': '名前を解決できませんでした',
  'the connection was refused': '接続が拒否されました',
  'the host cannot be reached': 'ホストに到達できません',
  'the compressed answer is damaged': '圧縮された応答が壊れています',
  'no trusted encrypted connection could be made': '信頼できる暗号化接続を確立できませんでした',
  'the answer is not HTTP': '応答が HTTP ではありません',
  'the connection was closed before the answer was complete': '応答が完了する前に接続が閉じられました',
  'The call is over.': '呼び出しは終わっています。',
  'The request was aborted.': 'リクエストが中断されました。',
  'The connection was aborted.': '接続が中断されました。',
  '{} did not answer completely within {} ms.': '{0} の応答が {1} ms 以内に完了しませんでした。',
  '{} did not answer within {} seconds.': '{0} が {1} 秒以内に応答しませんでした。',
  '{} redirects again after {} redirects.':
    '{0} が {1} 回のリダイレクトの後も、さらにリダイレクトしています。',
  '{} redirects to a URL that cannot be read.': '{0} のリダイレクト先の URL を読み取れません。',
  '{} redirects this {} request to {}. Only GET and HEAD are taken to another origin: call that URL directly, or do not follow redirects.':
    '{0} がこの {1} リクエストを {2} へリダイレクトしています。別のオリジンへ引き継げるのは GET と HEAD だけです。その URL を直接呼び出すか、リダイレクトをたどらない設定にしてください。',
  '{} answers with a redirect (status {}), which is not followed because the request carries a key. Use the final address.':
    '{0} がリダイレクトを返しました（ステータス {1}）。リクエストに鍵が含まれるため、たどりません。最終的なアドレスを指定してください。',
  '{} compressed its answer ({}) although it was asked not to.':
    '{0} が、圧縮しないよう求めたにもかかわらず、応答を圧縮しました（{1}）。',
  'The answer of {} is larger than the {} bytes allowed.': '{0} の応答が上限の {1} バイトを超えています。',
  'The answer of {} is larger than the {} bytes allowed. Ask for less, or raise the limit of the request.':
    '{0} の応答が上限の {1} バイトを超えています。取得する量を減らすか、リクエストの上限を上げてください。',
  'The host or port cannot be read. Give a name such as db.example.com or an IP address, and a port from 1 to 65535.':
    'ホストまたはポートを読み取れません。db.example.com のような名前か IP アドレスと、1～65535 のポートを指定してください。',
  'The host is empty.': 'ホストが空です。',
  '{} (port {}) is not among the hosts that this organisation allows its workflows to call. An organisation admin can add it in the settings.':
    '{0}（ポート {1}）は、この組織がワークフローに許可しているホストではありません。組織管理者が設定で追加できます。',
  'The hosts that the organisation allows could not be read, so nothing was sent.':
    '組織が許可しているホストを読み取れなかったため、何も送信していません。',
  'The URL cannot be read. Give an absolute http or https URL.':
    'URL を読み取れません。http または https の絶対 URL を指定してください。',
  'URLs of the kind {} are not called, only http and https.':
    '{0} の URL は呼び出せません。使えるのは http と https だけです。',
  'The URL of {} holds a user name or password. Send them as a header.':
    '{0} の URL にユーザー名またはパスワードが含まれています。ヘッダーで送信してください。',
  '{} (port {}) is or leads to a private or internal address, which is not called. The operator can allow it by adding {} to MILLRACE_ALLOW_HOSTS.':
    '{0}（ポート {1}）は、プライベートまたは内部のアドレスであるため、呼び出せません。サービスの運用者が MILLRACE_ALLOW_HOSTS に {2} を加えると許可できます。',

  // Credentials.
  'No credential is chosen. Choose one in the settings of this node.':
    '認証情報が選ばれていません。このノードの設定で選んでください。',
  'There is no credential {} in this organisation. Choose another one in the settings of this node.':
    '認証情報 {0} はこの組織にありません。このノードの設定で別のものを選んでください。',
  'Credential {}, {}, is of type {}; this node needs one of type {}.':
    '認証情報 {0}{1}の種類は {2} ですが、このノードには {3} の認証情報が必要です。',
  'Credential {}, {}, may not be sent to {}: it is bound to {}. Add the host to the credential, or choose another one.':
    '認証情報 {0}{1}は {2} へ送信できません。送信先は {3} に限られています。ホストを認証情報に追加するか、別のものを選んでください。',
  'Credential {}, {}, has no secret any more, because its key was lost. Enter it anew.':
    '認証情報 {0}{1}の秘密の値は、鍵が失われたため使えません。入力し直してください。',
  'Credential {}, {}, cannot be decrypted. {}': '認証情報 {0}{1}を復号できません。{2}',
  'What is stored was changed outside of Millrace. Enter it anew.':
    '保存されている値が Millrace の外で変更されています。入力し直してください。',
  "The service lacks the key it is encrypted with; the service's log says what to do.":
    '暗号化に使われた鍵がサービスにありません。対処方法はサービスのログに記録されています。',
  'config.{} names no credential. Make one of the type {} and give its id.':
    'config.{0} に認証情報が指定されていません。種類が {1} の認証情報を作成し、指定してください。',

  // Data that workflows keep.
  'What is added must be a number up to 2^53-1.': '加算できるのは 2^53-1 以下の数値だけです。',
  'The entry {} does not hold a number that can be added to. Set it to a number first, or use another key.':
    'エントリー {0} の値は加算できる数値ではありません。先に数値を設定するか、別のキーを使ってください。',
  'The organisation has {} entries, which is the limit. Delete some, or let entries expire.':
    '組織のエントリーが上限の {0} 件に達しています。削除するか、有効期限を設定してください。',
  'A key has 1 to {} characters, none of them NUL; this one has {}.':
    'キーは NUL を含まない 1～{0} 文字です。このキーは {1} 文字です。',
  'An entry may expire after 1 millisecond to 10 years.': 'エントリーの有効期限は 1 ミリ秒～10 年です。',
  'A value has at most {} bytes as JSON and is nested at most 1,000 deep. Keep less of it, or split it over several keys.':
    '値は JSON で {0} バイトまで、入れ子は 1,000 段までです。保存する量を減らすか、複数のキーに分けてください。',
  'The entry {} was changed at the same moment.': 'エントリー {0} が同時に変更されました。',
  'The database of the service could not be reached.': 'サービスのデータベースに接続できませんでした。',

  // Other workflows and nodes.
  '{} cannot be run inside of another node: {}.': '{0} は別のノードの中では実行できません: {1}。',
  'it is a trigger': 'トリガーです',
  'it is a loop': 'ループです',
  'it waits for others': 'ほかを待つノードです',
  'it ends the execution': '実行を終えるノードです',
  'it waits': '待機するノードです',
  'This execution has ended, so it starts no other one.':
    'この実行は終了しているため、ほかの実行を開始できません。',
  'There is no workflow {} in this organisation. Choose another one in the settings of this node.':
    'ワークフロー {0} はこの組織にありません。このノードの設定で別のものを選んでください。',
  'Workflow {}, {}, is {}. {}': 'ワークフロー {0}{1}は「{2}」です。{3}',
  'Restore it first.': '先に復元してください。',
  'Activate it first.': '先に有効にしてください。',
  '{} executions have started one another already; this one starts no further. Does a workflow call itself?':
    '実行がすでに {0} 段つながって開始されているため、これ以上は開始しません。ワークフローが自身を呼び出していないか確認してください。',
  'Workflow {} does not take this input: {}. Its settings.input_schema says what it takes.':
    'ワークフロー {0} はこの入力を受け付けません: {1}。受け付ける内容は settings.input_schema で決まります。',
  'This execution has started no execution {}.': 'この実行は、実行 {0} を開始していません。',
  'The waiting for another execution was ended.': '別の実行の待機が終了しました。',

  // SQL.
  'The query was aborted.': 'クエリが中断されました。',
  'The connection to {} failed: {}.': '{0} に接続できませんでした: {1}。',
  'The connection to {} failed: {}': '{0} に接続できませんでした: {1}',
  'The user of the credential has no rights on the database that it names or that the query uses, on {}.':
    '{0} で、認証情報のユーザーには、指定されたデータベースまたはクエリが使うデータベースの権限がありません。',
  '{} cannot run the statement now: {}.': '{0} は現在、この文を実行できません: {1}。',
  'The statement would write: {}. Set config.read_only to false to let it.':
    'この文は書き込みを行います: {0}。許可するには config.read_only を false にしてください。',
  'a certificate is checked against a name, and the host is an address':
    '証明書は名前で検証されますが、ホストがアドレスで指定されています',
  'A node has no rows to copy. INSERT takes them as parameters':
    'ノードには COPY で渡す行がありません。INSERT のパラメーターで渡してください',
  '{} Set config.read_only to false for other statements.':
    '{0}ほかの文を実行するには config.read_only を false にしてください。',
  'A read-only query begins with {} or VALUES.': '読み取り専用のクエリは {0} または VALUES で始めます。',
  'A read-only query holds neither OUTFILE nor DUMPFILE: the server would write a file.':
    '読み取り専用のクエリに OUTFILE と DUMPFILE は使えません（サーバーがファイルを書き込むため）。',
  'COPY is not read-only: it may write files. SELECT answers with rows.':
    'COPY は読み取り専用ではありません（ファイルに書き込めるため）。行の取得には SELECT を使ってください。',
  'A read-only query begins with a word such as SELECT or WITH.':
    '読み取り専用のクエリは SELECT や WITH などで始めます。',
  'The rows are larger than {} bytes. Select fewer columns or rows.':
    '行の合計が {0} バイトを超えています。列または行を減らしてください。',
  'The query did not end within {} ms and was cancelled.':
    'クエリが {0} ms 以内に終わらなかったため、キャンセルされました。',
  'The connection to {} was lost.': '{0} との接続が失われました。',
  'The connection to {} was lost while the statement ran. It may have been done or not: look before you run it again.':
    '文の実行中に {0} との接続が失われました。実行されたかどうか分かりません。再度実行する前に確認してください。',
  'The query has {} {} for values, and config.parameters has {}. Give one for each.':
    'クエリで値を受け取る箇所は {0} か所ですが、config.parameters は {2} 個です。同じ数にしてください。',
  '{} does not accept the user name and password of the credential.':
    '{0} が認証情報のユーザー名とパスワードを受け付けません。',
  'No trusted encrypted connection to {} could be made: {}. Check "Server" and "Encryption" of the credential.':
    '{0} への信頼できる暗号化接続を確立できませんでした: {1}。認証情報の「サーバー」と「暗号化」を確認してください。',

  // Mail.
  'Sending was aborted.': '送信が中断されました。',
  '{} does not accept the user name and password of the credential ({}).':
    '{0} が認証情報のユーザー名とパスワードを受け付けません（{1}）。',
  '{} does not accept the user name and password of the credential{}; it wants some.':
    '{0} にはユーザー名とパスワードが必要です{1}。',
  '{} refused the sender or all recipients: {}': '{0} が差出人またはすべての宛先を拒否しました: {1}',
  '{} refused the message: {}': '{0} がメッセージを拒否しました: {1}',

  // Code.
  'The code was stopped from outside.': 'コードが外部から停止されました。',
  'The code was stopped: it ran for longer than {} ms. Do less in one go, or raise timeout_ms.':
    '{0} ms を超えたため、コードを停止しました。処理を減らすか、timeout_ms を増やしてください。',
  'The code was stopped: it needed more than {} MiB of memory. Keep less at a time, or raise memory_mb.':
    'メモリが {0} MiB を超えたため、コードを停止しました。一度に保持する量を減らすか、memory_mb を増やしてください。',
  'The code threw a value that cannot be looked at': 'コードが、内容を確認できない値を投げました',
  '{} (line {}, column {})': '{0}（{1} 行 {2} 列）',
  '{} (at the end of the code)': '{0}（コードの末尾）',
  'SyntaxError: a bracket, a brace or a quote is not closed, or is closed once too often':
    'SyntaxError: 括弧または引用符が閉じられていないか、余分に閉じられています',
  'InternalError: out of memory': 'InternalError: メモリが足りません',
  'SyntaxError: the braces of the code do not match.': 'SyntaxError: コードの波かっこが対応していません。',
  'The code waits for a promise that nothing settles. There are no timers and no network in here.':
    'コードが、完了することのない Promise を待っています。ここではタイマーとネットワークは使えません。',
  'Values or calls are nested too deep for the sandbox.': '値または呼び出しの入れ子が深すぎます。',

  // Models.
  'The call was aborted.': '呼び出しが中断されました。',
  'The model did not answer completely within {} ms.': 'モデルの回答が {0} ms 以内に完了しませんでした。',
  'The model refuses to answer ({}).': 'モデルが回答を拒否しました（{0}）。',
  'The model could not complete its answer ({}).': 'モデルが回答を完了できませんでした（{0}）。',
  'the arguments are not a JSON object': '引数が JSON オブジェクトではありません',
  '{} It says: {}': '{0}応答の内容: {1}',
  '{} refuses this key what was asked for.': '{0} が、この鍵での要求を拒否しました。',
  '{} refuses this key what was asked for (status {}).':
    '{0} が、この鍵での要求を拒否しました（ステータス {1}）。',
  "{} does not accept the credential's key. Put a valid key into the credential.":
    '{0} が認証情報の鍵を受け付けません。有効な鍵を認証情報に設定してください。',
  "{} does not accept the credential's key (status {}). Put a valid key into the credential.":
    '{0} が認証情報の鍵を受け付けません（ステータス {1}）。有効な鍵を認証情報に設定してください。',
  'The account at {} has nothing left to spend.': '{0} のアカウントの残高または利用枠がありません。',
  'The account at {} has nothing left to spend (status {}).':
    '{0} のアカウントの残高または利用枠がありません（ステータス {1}）。',
  '{} limits how often it may be asked.': '{0} の利用回数の制限に達しました。',
  '{} limits how often it may be asked (status {}).': '{0} の利用回数の制限に達しました（ステータス {1}）。',
  '{} cannot answer at the moment.': '{0} は現在応答できません。',
  '{} cannot answer at the moment (status {}).': '{0} は現在応答できません（ステータス {1}）。',
  'The request is longer than the model {} can read. Shorten the prompt, or choose a model with a larger context.':
    'リクエストがモデル {0} の読める長さを超えています。プロンプトを短くするか、コンテキストの大きいモデルを選んでください。',
  'The request is longer than the model {} can read (status {}). Shorten the prompt, or choose a model with a larger context.':
    'リクエストがモデル {0} の読める長さを超えています（ステータス {1}）。プロンプトを短くするか、コンテキストの大きいモデルを選んでください。',
  '{} refuses the request by its content rules.': '{0} が内容の規則によりリクエストを拒否しました。',
  '{} refuses the request by its content rules (status {}).':
    '{0} が内容の規則によりリクエストを拒否しました（ステータス {1}）。',
  "{} does not know the model {}. Check the model's name and the base URL of the credential.":
    '{0} にモデル {1} はありません。モデルの名前と、認証情報のベース URL を確認してください。',
  "{} does not know the model {} (status {}). Check the model's name and the base URL of the credential.":
    '{0} にモデル {1} はありません（ステータス {2}）。モデルの名前と、認証情報のベース URL を確認してください。',
  '{} refuses the request.': '{0} がリクエストを拒否しました。',
  '{} refuses the request (status {}).': '{0} がリクエストを拒否しました（ステータス {1}）。',
  'The answer does not fit the schema: {}.': '回答がスキーマに合っていません: {0}。',
};
