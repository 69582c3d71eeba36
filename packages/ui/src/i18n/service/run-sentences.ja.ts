/** Why nodes and executions fail, where the engine or a node says so; what the other side said stays as it is. */
export const runSentencesJa: { readonly [sentence: string]: string } = {
  'there is no such node': 'ノードが見つかりません',
  'The execution took longer than settings.timeout_s allows.': '実行が、設定された最長時間を超えました。',
  'The node took longer than the {} ms it may take. Raise data.timeout_ms if it needs more.':
    'ノードが制限時間の {0} ms を超えました。必要なら、試行の最長時間を延ばしてください。',
  'The node waits for a signal, which its type cannot.': 'この種類のノードは、待機できません。',
  'The execution has consumed {} AI tokens; settings.token_budget allows {}.':
    '実行が AI トークンを {0} 使いました。予算は {1} です。',
  'The node ended without a result.': 'ノードが結果を返さずに終わりました。',
  'The time the node waits for is not a number.': 'ノードの待ち時間が数値ではありません。',
  'The output of the node is not an object.': 'ノードの出力がオブジェクトではありません。',
  'The output of the node is larger than {} bytes. Let it pass on less.':
    'ノードの出力が {0} バイトを超えました。出力を減らしてください。',
  'The output of the node is nested too deeply. Let it pass on something flatter.':
    'ノードの出力の入れ子が深すぎます。必要な部分だけを出力してください。',
  'The loop is empty.': 'ループの中が空です。',
  'Iteration {}, node {}: {}': '反復 {0}、{1}: {2}',
  'Iteration {}: {}': '反復 {0}: {1}',
  'The outputs of the iterations are {} together (limit {} bytes). Let "result" pass on less.':
    '反復の出力の合計が {0} になりました（上限 {1} バイト）。「結果」を減らしてください。',
  'The loop was not done after {} iterations. Raise max_iterations or set on_limit to "continue".':
    '{0} 回繰り返しても終了条件が成り立ちませんでした。最大回数を増やすか、「最大回数に達したとき」を「続ける」にしてください。',
  '{} failed unexpectedly: {}': '{0} が予期しない形で失敗しました: {1}',
  'The node failed unexpectedly: {}': 'ノードが予期しない形で失敗しました: {0}',
  '{} waited for a signal but cannot take one.': '{0} は待機しましたが、再開の合図を受け取れません。',
  'The service failed to run or store this execution. The log of the worker has the cause.':
    'サービスがこの実行を処理または保存できませんでした。原因はワーカーのログにあります。',
  'The settings of this node do not fit: {}': 'ノードの設定が合っていません: {0}',

  'The token budget of this execution is used up. Nothing was asked.':
    'この実行のトークンの予算がなくなったため、質問していません。',
  'The token budget of this execution ended in the middle of the answer.':
    '回答の途中で、この実行のトークンの予算がなくなりました。',
  'The token budget ended in the middle of the answer.': '回答の途中で、トークンの予算がなくなりました。',
  'The token budget is used up after {} steps, before the model had answered.':
    'モデルが回答する前に、{0} 手順でトークンの予算がなくなりました。',
  'The model was still calling tools after {} steps, which is the limit. Raise max_steps, or ask for less.':
    '上限の {0} 手順に達しても、モデルがツールの呼び出しを続けていました。最大手順数を増やすか、課題を小さくしてください。',
  'The model was still calling tools after {} ms. Raise total_timeout_ms, or ask for less.':
    '{0} ms たっても、モデルがツールの呼び出しを続けていました。全体の制限時間を延ばすか、課題を小さくしてください。',
  'The answer broke off before the model had ended it.': '回答が途中で切れました。',
  'The answer broke off: {}': '回答が途中で切れました: {0}',
  '{} answered with something that is not the format of {}. Check provider and base URL of the credential.':
    '{0} の応答が {1} の形式ではありません。認証情報のプロバイダーとベース URL を確認してください。',
  'The server answered with nothing. Check provider and base URL of the credential.':
    'サーバーの応答が空でした。認証情報のプロバイダーとベース URL を確認してください。',
  "The server answered with a page instead of a model's answer. Check provider and base URL of the credential.":
    'サーバーが、モデルの回答ではなく Web ページを返しました。認証情報のプロバイダーとベース URL を確認してください。',
  "The server answered with JSON that is not a model's answer. Check provider and base URL of the credential.":
    'サーバーが返した JSON は、モデルの回答ではありません。認証情報のプロバイダーとベース URL を確認してください。',
  "The server answered with something that is not a model's answer. Check provider and base URL of the credential.":
    'サーバーの応答は、モデルの回答ではありません。認証情報のプロバイダーとベース URL を確認してください。',
  '{} wants an encrypted connection before it lets anybody sign in or send ({}). Set "Encryption" of the credential to starttls or tls.':
    '{0} は、サインインや送信の前に暗号化された接続を求めています（{1}）。認証情報の「暗号化」を starttls または tls にしてください。',
  'The answer was cut at the limit of tokens before its JSON was complete. Raise max_tokens.':
    'JSON が完成する前に、トークンの上限で回答が切れました。回答の最大トークン数を増やしてください。',
  'The answer is not JSON.': '回答が JSON ではありません。',
  'The node was aborted.': 'ノードが中断されました。',
  'config.code must be a text that is not empty.': 'コードが空です。',
  'There is a template in the code, and templates are not put into code. Hand the value over by config.input and read it from input; write \\{{ where the braces are meant as text.':
    'コードの中にテンプレートがあります。コードではテンプレートを使えないので、値は「入力」で渡し、input から読み取ってください。波かっこを文字として書くには \\{{ とします。',
  'The result is larger than {} bytes of JSON. Give back less.':
    '結果の JSON が {0} バイトを超えました。返す量を減らしてください。',
  'The steps were stopped from outside.': '処理が外部から停止されました。',
  'This delay would end after more than {} days. Choose a shorter one.':
    'この待機は {0} 日を超えます。短くしてください。',
  'config.items must be a list, but is {}. Name a list, for example {{trigger.data.items}}.':
    '「リスト」の値がリストではありません（{0}）。{{trigger.data.items}} のように、リストを指定してください。',
  'The list has {} items; a loop takes at most {}. Split it, or give each part to a workflow of its own.':
    'リストは {0} 件ありますが、ループで扱えるのは {1} 件までです。分割するか、別のワークフローに分けてください。',
  'The case name {} is used twice or reserved (default, error). Give each case a name of its own.':
    '分岐の名前 {0} が重複しているか、予約されています（default、error）。それぞれ別の名前にしてください。',
  'config.key is empty. Name the entry to {}.': 'キーが空です。対象のキーを指定してください（{0}）。',
  'The server took none of the recipients: {}': 'サーバーがすべての宛先を拒否しました: {0}',
  'config.workflow_id names no workflow. Give the id of one.': 'ワークフローが指定されていません。',
  'Execution {} has not ended within {} seconds.': '実行 {0} が {1} 秒以内に終わりませんでした。',
  'Execution {} was cancelled.': '実行 {0} がキャンセルされました。',
  'Execution {} failed: {}': '実行 {0} が失敗しました: {1}',
  '{} answered with status {}.': '{0} がステータス {1} を返しました。',
  '{} answered with a body that is not JSON. Set config.response_type to auto or text to take it as it is.':
    '{0} の応答の本文が JSON ではありません。そのまま受け取るには、応答の形式を auto または text にしてください。',
  '{} answered 410: it wants no more webhooks. Remove this node.':
    '{0} が 410 を返しました。Webhook はもう受け付けられません。このノードを削除してください。',
  'config.query is empty.': 'クエリが空です。',
  'config.query holds {{, and templates are not filled into SQL. Write $1 (PostgreSQL) or ? (MySQL) there and put the template into config.parameters. A literal such as {{1,2}} can be a parameter, too.':
    'クエリに {{ が含まれています。SQL にはテンプレートを埋め込めないので、$1（PostgreSQL）または ?（MySQL）と書き、テンプレートは「パラメーター」に指定してください。',
  'What was sent to this node is not a decision.': 'このノードに届いた内容は、判断ではありません。',
  'config.notify must be {type, config} with the type {}.':
    '「メッセージ」は、種類が {0} の {type, config} でなければなりません。',
  'config.thread must be the id of a message, or topic: and the id of a topic.':
    '「スレッド」は、メッセージの ID か、topic: とトピックの ID でなければなりません。',
};
