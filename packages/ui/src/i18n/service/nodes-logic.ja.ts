/** The nodes `core.*` without those that transform data. */
export const nodesLogicJa: { readonly [text: string]: string } = {
  'Set values': '値の設定',
  'Makes an object out of constants and templates; the object is the output.':
    '定数とテンプレートからオブジェクトを作り、それを出力します。',
  Values: '値',
  'Names and their values. Values may hold templates and may be nested.':
    '名前と値の組です。値にはテンプレートや入れ子を使えます。',
  'Shape data for the next node': '次のノードに渡すデータを整える',

  If: '条件分岐',
  'Goes on by `true` when the conditions hold, else by `false`.':
    '条件が成り立てば `true`、成り立たなければ `false` へ進みます。',
  'Left side': '左辺',
  'The value looked at, usually a template such as {{trigger.data.amount}}.':
    '調べる値です。ふつうは {{trigger.data.amount}} のようなテンプレートを書きます。',
  Operator: '演算子',
  'How the two sides are compared.': '左辺と右辺の比べ方です。',
  'Right side': '右辺',
  'What it is compared with; not used by exists, is_empty, is_true and their opposites.':
    '比べる相手の値です。exists、is_empty、is_true とその逆の演算子では使いません。',
  Conditions: '条件',
  'What is compared with what.': '何と何を比べるかです。',
  Combine: '条件の組み合わせ',
  'Whether all conditions must hold or one is enough.':
    'すべて成り立つ必要があるか、1 つ成り立てばよいかです。',
  'Large orders go another way': '大口の注文を別の経路に回す',
  'One of several is enough': 'いずれか 1 つが成り立てばよい',

  Switch: '複数分岐',
  'Goes on by the handle of the first case that holds (or of every one), else by `default`.':
    '最初に成り立った分岐（またはすべての分岐）へ進みます。どれも成り立たなければ `default` へ進みます。',
  Name: '名前',
  'The handle taken when the conditions hold: 1 to 64 characters without braces, unique, not `default` or `error`.':
    '条件が成り立ったときに進む出口の名前です。波かっこを含まない 1～64 文字で、重複や `default`、`error` は使えません。',
  Cases: '分岐',
  'Looked at from first to last.': '上から順に調べます。',
  Mode: '方式',
  'Whether only the first case that holds is taken or all that hold.':
    '最初に成り立った分岐だけに進むか、成り立ったすべてに進むかです。',
  'By kind of event': 'イベントの種類で分ける',
  'No case holds': 'どの分岐も成り立たない場合',

  'Filter a list': 'リストの絞り込み',
  'Keeps the items of a list that fit. Goes on by `out` when any is kept, else by `empty`.':
    'リストから条件に合う要素だけを残します。残る要素があれば `out`、なければ `empty` へ進みます。',
  Items: 'リスト',
  'The list, usually a template such as {{trigger.data.items}}.':
    '対象のリストです。ふつうは {{trigger.data.items}} のようなテンプレートを書きます。',
  Field: '項目',
  'Dotted path into the item, such as address.city or tags.0; empty for the item itself.':
    '要素の中のパスをドットで区切って書きます（例: address.city、tags.0）。空なら要素そのものです。',
  'What an item must fulfil to be kept.': '残す要素が満たすべき条件です。',
  'Keep what is in stock': '在庫のあるものだけを残す',
  'Nothing is left': '何も残らない場合',
  'Not a list': 'リストでない場合',

  'Merge branches': '分岐の合流',
  'Joins branches: brings the outputs of the nodes before it together once each is decided.':
    '分岐を 1 つに合流させます。手前の各ノードの結果がそろってから、その出力をまとめます。',
  'all: an object with each output under its node id. combine: the members of all outputs in one object, later edges win. first: the output of the first edge that was taken, in the order of the edges.':
    'all: 各出力をノード ID ごとに収めたオブジェクトにします。combine: すべての出力の項目を 1 つのオブジェクトにまとめます（後の接続が優先）。first: 通った接続のうち、順序が最初のものの出力にします。',
  'Keep the outputs apart': '出力を分けて持つ',
  'Put the members together': '項目を 1 つにまとめる',
  'Whichever branch was taken': '通った分岐の出力を使う',

  'For each': '要素ごとの繰り返し',
  'Runs the nodes inside it once for each item of a list. They read `{{item}}` and `{{index}}`; its output is `items`, what each came to, in the order of the list, and `errors`.':
    'リストの要素ごとに、中のノードを 1 回ずつ実行します。中のノードからは `{{item}}` と `{{index}}` を参照できます。出力は、各要素の結果をリストの順に並べた `items` と、`errors` です。',
  'The list, usually a template such as {{trigger.data.rows}}; at most 100,000 items.':
    '対象のリストです。ふつうは {{trigger.data.rows}} のようなテンプレートを書きます。最大 100,000 件です。',
  'At the same time': '同時に処理する数',
  'How many items are worked on at the same time at most.': '同時に処理する要素の最大数です。',
  'When an item fails': '要素が失敗したとき',
  'fail: the loop fails, and what else runs in it is aborted. collect: the others go on; `items` holds null for it, `errors` tells its index, code, message and node_id.':
    'fail: ループを失敗とし、実行中のほかの要素を中断します。collect: ほかの要素を続けます。失敗した要素の `items` は null になり、`errors` に index、code、message、node_id が入ります。',
  'Result of an item': '要素の結果',
  'What goes into `items`, with templates that may read the nodes inside, such as {{nodes.fetch.output.body}}. When null: the output of the last node inside, of several an object by node id.':
    '`items` に入れる値です。{{nodes.fetch.output.body}} のように、中のノードを参照できます。null なら中の最後のノードの出力になります（複数ある場合はノード ID ごとのオブジェクト）。',
  'Every row of a list': 'リストの各行を処理する',
  'Only what is needed of each item': '各要素から必要なものだけを取り出す',
  'Something that is no list': 'リストではない値',

  Repeat: '繰り返し',
  'Runs the nodes inside it again and again until conditions hold. They read `{{index}}` and, as `{{item}}`, what the iteration before came to (null at first). Its output is the number of `iterations`, what the `last` came to, and whether it is `done`.':
    '条件が成り立つまで、中のノードを繰り返し実行します。中のノードからは `{{index}}` と、前回の結果である `{{item}}`（初回は null）を参照できます。出力は、回数の `iterations`、最後の結果の `last`、条件が成り立ったかどうかの `done` です。',
  Until: '終了条件',
  'Looked at after each iteration; the templates may read the nodes inside, such as {{nodes.fetch.output.status}}.':
    '1 回終わるごとに調べます。{{nodes.fetch.output.status}} のように、中のノードを参照できます。',
  'Most iterations': '最大回数',
  'After so many it ends although the conditions do not hold.':
    '条件が成り立たなくても、この回数で終わります。',
  'At the limit': '最大回数に達したとき',
  'fail: it fails with max_iterations_reached. continue: the workflow goes on, and `done` is false.':
    'fail: max_iterations_reached で失敗します。continue: ワークフローを続け、`done` は false になります。',
  'Result of an iteration': '1 回ごとの結果',
  'What the next iteration sees as {{item}} and the output as `last`, with templates that may read the nodes inside. When null: the output of the last node inside, of several an object by node id.':
    '次の回から {{item}} として参照し、出力の `last` になる値です。中のノードを参照できます。null なら中の最後のノードの出力になります（複数ある場合はノード ID ごとのオブジェクト）。',
  'Three times': '3 回',
  'Give up without failing': '失敗とせずに打ち切る',
  'Fail when it takes too long': '回数がかかりすぎたら失敗とする',

  Delay: '待機',
  'Waits for a duration or until a moment, at most 366 days. Give one of the three settings. A moment in the past passes at once.':
    '一定の時間、または指定した日時まで待ちます（最長 366 日）。3 つの設定のうち 1 つを指定してください。過去の日時ならすぐに先へ進みます。',
  Milliseconds: 'ミリ秒',
  'How long to wait, in milliseconds.': '待つ時間をミリ秒で指定します。',
  Amount: '長さ',
  'How many units.': '単位いくつ分かです。',
  Duration: '時間',
  'How long to wait, as amount and unit.': '待つ時間を、長さと単位で指定します。',
  'core.delay/properties/until/title': '再開する日時',
  'When to go on: an RFC 3339 timestamp with offset, such as 2026-11-20T09:30:00Z.':
    '先へ進む日時です。オフセット付きの RFC 3339 形式で書きます（例: 2026-11-20T09:30:00+09:00）。',
  'Wait two hours': '2 時間待つ',
  'Wait until a moment named in the data': 'データで指定された日時まで待つ',
  'Two settings at once': '2 つの設定を同時に指定した場合',

  Stop: '終了',
  'Ends the execution here and now as completed, also from inside loops: what else runs is aborted.':
    '実行をここで完了として終わらせます。ループの中からでも終わらせることができ、ほかに動いているものは中断します。',
  Result: '結果',
  'What the execution came to, for a workflow that called this one or an answer to a webhook. Anything but an object becomes its member `result`.':
    '実行の結果です。呼び出し元のワークフローや Webhook の応答で使われます。オブジェクト以外の値は、項目 `result` に入ります。',
  'Nothing to do': '何もすることがない場合',
  'A plain value': '単純な値',

  Fail: '失敗として終了',
  'Ends the execution as failed, whatever `on_error` says, also from inside loops.':
    '`on_error` の設定にかかわらず、実行を失敗として終わらせます。ループの中からでも使えます。',
  'What went wrong, for the person who reads the execution. Anything but text is shown as JSON.':
    '何が問題だったかを、実行を見る人に伝える文です。文字列以外は JSON で表示されます。',
  'core.fail/properties/code/title': 'エラーコード',
  'A stable name for programs: small letters, digits and underscores.':
    'プログラムで扱うための固定の名前です。英小文字、数字、アンダースコアが使えます。',
  'Refuse an order without lines': '明細のない注文を拒否する',
};
