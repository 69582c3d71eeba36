/** Why the service refused, by code; a detail that says more has its own sentence below. */
export const apiErrorsJa: { readonly [code: string]: string } = {
  invalid_request: 'リクエストが HTTP として正しくありません。',
  invalid_url: 'URL が正しくありません。',
  invalid_body: '本文を読み取れません。',
  invalid_json: '本文が正しい JSON ではありません。',
  json_too_deep: 'JSON の入れ子が深すぎます。',
  invalid_idempotency_key: 'Idempotency-Key の形式が正しくありません。',
  invalid_key: 'API キーがないか、正しくありません。',
  key_expired: 'API キーの有効期限が切れています。',
  key_revoked: 'API キーは失効しています。',
  key_locked: 'API キーはロックされています。',
  invalid_signature: '呼び出しの署名がないか、正しくありません。',
  stale_signature: '呼び出しの署名の時刻が、現在とずれすぎています。',
  signed_out: 'サインインしていないか、セッションが終了しています。サインインしてください。',
  invalid_credentials: 'メールアドレスまたはパスワードが違います。',
  second_factor_required: '認証アプリのコードを入力してください。',
  invalid_second_factor: 'コードが違うか、古いか、すでに使われています。',
  insufficient_role: 'あなたの役割では、この操作は許可されていません。',
  cross_site_request: '管理画面は、自身のページからの操作だけを受け付けます。',
  insufficient_scope: 'API キーに必要なスコープがありません。',
  ip_not_allowed: 'このアドレスからの呼び出しは許可されていません。',
  not_found: '見つかりません。削除されたか、閲覧できない可能性があります。',
  link_not_valid: 'リンクは使用済みか、取り消されたか、期限切れか、新しいものに置き換えられています。',
  no_webhook_trigger: 'ワークフローに Webhook トリガーがありません。',
  method_not_allowed: 'この操作はここでは使えません。',
  not_acceptable: '受け入れられる形式で応答できません。',
  request_timeout: 'リクエストが時間内に届きませんでした。もう一度お試しください。',
  idempotency_key_reused: 'この Idempotency-Key は別のリクエストで使われています。',
  workflow_inactive: 'ワークフローは無効です。有効にしてからお試しください。',
  workflow_archived: 'ワークフローはアーカイブされています。復元してからお試しください。',
  workflow_not_archived: 'ワークフローはアーカイブされていません。',
  workflow_running: 'ワークフローの実行が終わっていません。',
  draft_conflict: '下書きが別の場所で変更されました。',
  version_conflict: 'ほかの人がこのワークフローを保存しました。',
  execution_final: '実行はすでに終了しています。',
  execution_not_final: '実行はまだ終了していません。',
  no_failed_node:
    '失敗したノードから再実行できるのは、開始後に失敗した実行だけです。最初から再実行してください。',
  callback_used: 'このコールバックはすでに使われています。',
  execution_ended: '待っていた実行は終了しています。',
  callback_expired: 'コールバックの期限が過ぎています。',
  key_rotated: 'API キーはすでに交換済みです。',
  key_ended: 'API キーはすでに終了しています。',
  credential_in_use: '認証情報はワークフローで使われています。',
  account_exists: 'このメールアドレスのアカウントがあります。サインインして参加してください。',
  address_taken: 'このメールアドレスは、この招待では使えません。',
  already_member: 'すでにこの組織のメンバーです。',
  last_admin: '管理できる人がいなくなるため、変更できません。',
  no_password: 'このアカウントにパスワードはありません。シングルサインオンでサインインします。',
  second_factor_on: '二段階認証はすでに有効です。',
  second_factor_off: '二段階認証は有効ではありません。',
  organisation_exists: '同じ名前の組織がすでにあります。',
  precondition_failed: '読み込んだ後に変更されています。再読み込みしてやり直してください。',
  body_too_large: '送信する内容が大きすぎます。',
  uri_too_long: 'URL が長すぎます。',
  unsupported_media_type: '本文の形式に対応していません。',
  validation_failed: '入力に正しくない値があります。',
  rate_limited: 'リクエストが多すぎます。しばらく待ってからお試しください。',
  too_many_failed_authentications: '失敗が多すぎます。数分待ってからもう一度お試しください。',
  headers_too_large: 'リクエストのヘッダーが大きすぎます。',
  internal_error: 'サービスが処理に失敗しました。リクエスト番号で、サービスのログから原因を調べられます。',
  execution_failed: '実行が完了しませんでした。',
  unusable_response: 'ワークフローの応答が正しくありません。',
  database_unavailable: 'データベースに接続できません。しばらく待ってからお試しください。',
  overloaded: 'サービスが混み合っています。しばらく待ってからお試しください。',
  shutting_down: 'サービスは停止処理中です。しばらく待ってからお試しください。',
  not_ready: 'サービスの準備ができていません。',
};

/** Details and errors of single fields that say more than their code. */
export const apiSentencesJa: { readonly [sentence: string]: string } = {
  'The service answered with status {}.': 'サービスがステータス {0} を返しました。',
  'There is no such workflow.': 'ワークフローが見つかりません。',
  'There is no such version.': 'バージョンが見つかりません。',
  'There is no such execution.': '実行が見つかりません。',
  'There is no such run of the node.': 'ノードの実行記録が見つかりません。',
  'There is no such organisation.': '組織が見つかりません。',
  'There is no such credential.': '認証情報が見つかりません。',
  'There is no such approval.': '承認が見つかりません。',
  'There is no such session.': 'セッションが見つかりません。',
  'There is no such member.': 'メンバーが見つかりません。',
  'There is no such invitation.': '招待が見つかりません。',
  'There is no such API key.': 'API キーが見つかりません。',

  'The body is not valid JSON. {}': '正しい JSON ではありません（{0}）。',
  'The JSON has more than {} levels of nesting. Send it flatter.': 'JSON の入れ子が {0} 段を超えています。',
  'The body is larger than the {} bytes this endpoint accepts. Send less at once.':
    '送信する内容が上限の {0} バイトを超えています。',
  'This needs the role {}; yours is {}.': 'この操作には「{0}」の役割が必要です。あなたの役割は「{1}」です。',
  'Your role is {}; only {} may give or take {}.':
    'あなたの役割は「{0}」です。「{2}」を付与または解除できるのは「{1}」だけです。',
  'To remove a credential that workflows use needs the role {}; yours is {}.':
    'ワークフローで使われている認証情報の削除には「{0}」の役割が必要です。あなたの役割は「{1}」です。',
  'Nobody else could administer the organisation. Give another member the role {} first.':
    '組織を管理できる人がいなくなります。先に、ほかのメンバーの役割を「{0}」にしてください。',
  'Nobody else could administer the service. Give somebody with an account the role {} first.':
    'サービスを管理できる人がいなくなります。先に、アカウントのある人の役割を「{0}」にしてください。',

  'Only an archived workflow can be deleted. Archive it first.':
    '削除できるのはアーカイブ済みのワークフローだけです。先にアーカイブしてください。',
  'The workflow is not archived, so there is nothing to restore.':
    'ワークフローはアーカイブされていないため、復元する必要はありません。',
  'Executions of the workflow have not ended. Cancel them or wait for their end, then delete it.':
    'ワークフローの実行が終わっていません。キャンセルするか終了を待ってから、削除してください。',
  '{} has saved version {} since version {}, which this was made from. Compare both, then save with base_version {}.':
    'この編集はバージョン {2} から始まりましたが、その後 {0} さんがバージョン {1} を保存しました。違いを確認してから保存してください。',
  'The saved version does not begin with a webhook. Save one that does first.':
    '保存済みのバージョンに Webhook トリガーがありません。先に保存してください。',
  'The workflow is inactive, so its webhook takes no calls. Activate it first.':
    'ワークフローが無効のため、Webhook は呼び出しを受け付けません。先に有効にしてください。',
  'The workflow is archived, so its webhook takes no calls. Restore it first.':
    'ワークフローがアーカイブされているため、Webhook は呼び出しを受け付けません。先に復元してください。',
  'The draft was saved or thrown away in another tab. Begin a new one with revision 0.':
    '下書きは別のタブで保存または破棄されました。',
  'The draft was changed in another tab. Compare both, then go on from the present revision.':
    '下書きは別のタブで変更されました。違いを確認してください。',
  'is not the name of the workflow; type it as it is shown':
    'ワークフローの名前と一致しません。表示されているとおりに入力してください',
  'cannot go from {} to {}; it can become {}':
    '「{0}」から「{1}」へは変更できません。変更できるのは「{2}」です',
  'cannot go from {} to {}; it can become {}; DELETE archives a workflow':
    '「{0}」から「{1}」へは変更できません。変更できるのは「{2}」です',
  'is needed; give it a name': '必須です。名前を付けてください',
  'goes with no template; send one of both': 'テンプレートと同時に指定できません',
  'cannot be run alone: {}': '単独では実行できません: {0}',
  'the workflow has no trigger yet': 'ワークフローにトリガーがありません',
  'there is no such node': 'ノードが見つかりません',
  'a trigger only hands on what the workflow is started with; run the workflow':
    'トリガーは開始時の値を渡すだけです。ワークフローを実行してください',
  'it is inside the loop {}; run the loop': 'ループ {0} の中にあります。ループを実行してください',
  'has more than {} bytes as JSON; pin a shorter one':
    'JSON で {0} バイトを超えています。短いものを固定してください',
  'does not go with {}; send one of both': '{0} と同時に指定できません',
  'goes with only_node only': 'ノードを単独で実行するときだけ指定できます',
  'goes with {"from": "start"} only: from the failed node on, the input stays as it was':
    '最初から再実行するときだけ指定できます。失敗したノードからの再実行では、入力は変わりません',
  'must be draft or active in a new workflow':
    '新しいワークフローでは「下書き」か「有効」でなければなりません',
  'The expiry has already passed; give a time in the future.':
    '有効期限が過ぎています。将来の日時を指定してください',
  'Key {}, mr_{}, was rotated before; {}, took its place. Rotate that one.':
    'キー {0}（mr_{1}）はすでに交換済みです。後継は {2} です。そちらを交換してください。',
  'Key {} is {} and cannot be rotated; create a new key instead.':
    'キー {0} はすでに終了しているため、更新できません。新しいキーを発行してください。',
  'The name of a key {}.': 'キーの名前: {0}',
  'is read by the node; run {} first, or pin an output for it':
    'このノードが参照しています。先に {0} を実行するか、出力を固定してください',
  'is no execution of this workflow': 'このワークフローの実行ではありません',
  'is higher than the saved version; name the version that the draft was made from':
    '保存済みのバージョンより大きい番号です。下書きの元のバージョンを指定してください',

  'The execution is {} and cannot be cancelled any more.':
    '実行は「{0}」になっており、もうキャンセルできません。',
  'The execution is {}. Wait for its end or cancel it first.':
    '実行は「{0}」です。終了を待つか、先にキャンセルしてください。',
  'Somebody has decided already; the first decision counts.':
    'すでにほかの人が判断しています。最初の判断が採用されます。',
  'The time for deciding is over.': '判断の期限が過ぎています。',
  'The execution that asked has ended.': '判断を求めた実行は終了しています。',
  'is none of the choices of this approval': 'この承認の選択肢にありません',
  'is no variable of this template; it has {}': 'このテンプレートの項目ではありません。使えるのは {0} です',

  'Workflows use it: {}. Choose another credential in their nodes first, or remove it by force.':
    '次のワークフローで使われています: {0}。先にノードで別の認証情報を選ぶか、強制的に削除してください。',
  'is taken: there is a credential named {} already': '使われています。認証情報 {0} がすでにあります',
  'must be given again, because the change sends it elsewhere':
    '送り先が変わるため、入力し直す必要があります',
  'must be empty: a signing secret is never sent': '空にしてください。署名シークレットは送信されません',
  'must be empty: a credential of type {} names its host among its fields':
    '空にしてください。{0} 型の認証情報では、ホストを項目で指定します',
  'must name 1 to 50 hosts it may be sent to, such as api.example.com or *.example.com; * alone stands for every host':
    '送信を許可するホストを 1～50 個指定してください（例: api.example.com、*.example.com）。* だけならすべてのホストです',
  'must be a host such as api.example.com, api.example.com:8443, *.example.com or *, without https:// and path':
    'https:// とパスを除いたホストを指定してください（例: api.example.com、api.example.com:8443、*.example.com、*）',
  'must be a host such as api.example.com, api.example.com:8443, *.example.com, an IP address or a network such as 10.0.0.0/8, without https:// and path':
    'https:// とパスを除いたホスト、IP アドレス、ネットワークを指定してください（例: api.example.com、*.example.com、10.0.0.0/8）',
  'must be visible ASCII without blanks or line breaks': '空白と改行を含まない ASCII 文字で入力してください',
  'may not hold a colon': 'コロンは含められません',
  'must be the name of a header, such as X-Api-Key': 'X-Api-Key のような、ヘッダーの名前でなければなりません',
  'is set by the service, or goes on to other hosts with redirects; choose the header that the other side reads its key from':
    'サービスが設定するか、リダイレクト先にも送られるヘッダーです。相手がキーを読み取るヘッダーを指定してください',
  'holds a line break or a character that a header cannot carry':
    '改行など、ヘッダーに使えない文字が含まれています',
  'must be left out: a credential of type {} says itself where it goes':
    '種類が {0} の認証情報では指定できません。送信先は認証情報に含まれています',
  'is needed: the address of a page that wants the credential':
    '認証情報が必要なページのアドレスを入力してください',
  'must be an http:// or https:// address without user name and password':
    'ユーザー名とパスワードを含まない http:// または https:// のアドレスでなければなりません',
  'user name and password go together: give both or none':
    'ユーザー名とパスワードは、両方とも入力するか、両方とも空にしてください',
  'a webhook URL or a token is needed, whichever the service gives':
    'サービスから発行された Webhook URL またはトークンのどちらかが必要です',
  'must be an http:// or https:// address': 'http:// または https:// のアドレスでなければなりません',
  'must be an http:// or https:// address without user, query and fragment':
    'ユーザー、クエリ、フラグメントを含まない http:// または https:// のアドレスでなければなりません',
  'must be an http:// or https:// address without user and fragment':
    'ユーザーとフラグメントを含まない http:// または https:// のアドレスでなければなりません',
  'is needed; only an OpenAI-compatible server at a base URL of your own may want none':
    '必要です。キーなしで使えるのは、自分のベース URL にある OpenAI 互換サーバーだけです',
  'what is stored cannot be decrypted any more; enter the secret anew':
    '保存されている値を復号できません。秘密の値を入力し直してください',
  'The disk of the database is full. As soon as there is room the request can be sent again.':
    'データベースのディスクがいっぱいです。空き容量ができれば、もう一度送信できます。',
  'The service lacks the key that secrets are encrypted with. The operator finds the reason in its log.':
    '秘密の値を暗号化する鍵がサービスにありません。サービスの運用者がログで原因を確認できます。',
  'must be at most {}, which is how long the service keeps them':
    '{0} 以下にしてください。サービスの保存期間が上限です',

  'must have at least {} characters; several words make a good one':
    '{0} 文字以上必要です。複数の単語を組み合わせると安全です',
  'is among the first that somebody would guess; choose another one':
    '推測されやすいパスワードです。別のものにしてください',
  'is the present password; choose another one': '現在のパスワードと同じです。別のものにしてください',
  'repeats too few characters; choose another one': '同じ文字の繰り返しが多すぎます。別のものにしてください',
  'is made of the name or the e-mail address; choose another one':
    '名前やメールアドレスからできています。別のものにしてください',
  'is not your password': 'パスワードが違います',
  'is wrong, too old, or was used before': 'コードが違うか、古いか、すでに使われています',
  'is not what the app shows now; its clock must be right':
    'アプリに表示されているコードと違います。アプリの時計が正しいことを確認してください',
  'Begin again: there is no secret that this code could be of.': '設定を最初からやり直してください。',
  'The second factor is on already. Switch it off first.':
    '二段階認証はすでに有効です。先に無効にしてください。',
  'The invitation is for {}.': 'この招待は {0} 宛てです。',
  'This address was given a membership already. Its account is made by single sign-on, by the invitation of a system administrator, or by the operator (millrace users set-password).':
    'このメールアドレスはすでにメンバーに登録されています。アカウントは、シングルサインオン、システム管理者の招待、またはサービスの運用者（millrace users set-password）によって作成されます。',
  'You are a member of "{}" already.': 'すでに「{0}」のメンバーです。',
  '"{}" is not a role; choose from {}.': '「{0}」は役割ではありません。{1} から選んでください',
  '"{}" is not an e-mail address (name@host).': '「{0}」はメールアドレスではありません',
  'An organisation named "{}" exists already; choose another name.':
    '組織「{0}」はすでにあります。別の名前にしてください。',
  'The name of an organisation {}.': '組織の名前: {0}',
  'The name of an organisation must not be only digits: those are ids.':
    '組織の名前を数字だけにすることはできません。数字は ID として使われます。',
  'is not a cursor of this list with these filters; use next_cursor of the page before, or none to start over':
    '続きの位置が正しくありません。最初から読み込み直してください',
};
