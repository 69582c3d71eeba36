/**
 * What the service says of a flow: problems of nodes and edges, templates, and values that do not fit their schema.
 * What goes behind the name of a value in English can stand behind 「…」は in Japanese as well.
 */
export const flowSentencesJa: { readonly [sentence: string]: string } = {
  // Nodes and edges.
  'there is no node type {}': '{0} というノードの種類はありません',
  'there is no trigger; add the node that starts the workflow':
    'トリガーがありません。ワークフローを開始するノードを追加してください',
  '{} is the trigger already; a workflow has one':
    'トリガーはすでに {0} があります。ワークフローのトリガーは 1 つです',
  'cannot be reached from the trigger; join it by an edge or remove it':
    'トリガーからたどり着けません。接続するか、削除してください',
  'has nothing inside it; add the nodes that are to be repeated to it':
    '中が空です。繰り返すノードを中に追加してください',
  'a trigger cannot be inside a loop; move it out of {}':
    'トリガーはループの中に置けません。{0} の外へ移動してください',
  'no edge may lead into a trigger; it is where the workflow starts':
    'トリガーへは接続できません。ワークフローはそこから始まります',
  '{} takes its error edges only when its on_error is "branch"':
    '{0} のエラー分岐は、「最終的に失敗したとき」を「エラー分岐へ進む」にしたときだけ使われます',
  '{} has no handle {}; it has {}': '{0} に {1} という出口はありません。使えるのは {2} です',
  'this edge leads out of the loop {}; join the loop itself, edges stay inside or outside':
    'この接続はループ {0} の外に出ています。ループ自体を接続してください。接続は、内側どうしか外側どうしに限ります',
  'this edge leads into the loop {}; join the loop itself, edges stay inside or outside':
    'この接続はループ {0} の中に入っています。ループ自体を接続してください。接続は、内側どうしか外側どうしに限ります',
  'reads the output of its own node, which does not exist before it has run':
    'このノード自身の出力を参照しています。実行が終わるまで出力はありません',
  'reads {}, which cannot have run before; join it by edges that lead here':
    '{0} を参照していますが、このノードより前に実行されません。ここへ続くように接続してください',
  "there is no variable {} in the workflow's settings": 'ワークフローの設定に、定数 {0} はありません',
  '"{}" exists only inside a loop': '「{0}」はループの中でだけ使えます',
  '"args" exists only where a tool is called': '「args」はツールを呼び出すところでだけ使えます',
  '{}: a trigger has data only; write trigger.data':
    '{0}: トリガーで参照できるのは data だけです。trigger.data と書いてください',
  '{}: of the execution only execution.id can be read':
    '{0}: 実行について参照できるのは execution.id だけです',
  '{}: a path begins with trigger, nodes, execution or vars':
    '{0}: パスは trigger、nodes、execution、vars のいずれかで始めてください',
  '{}: no node has run yet when this is rendered':
    '{0}: これを作る時点では、まだどのノードも実行されていません',
  '{}: there is no node {}': '{0}: ノード {1} はありません',
  '{}: a node has output only; write {}': '{0}: ノードで参照できるのは output だけです。{1} と書いてください',
  'reads {}, the loop it is inside of, whose output does not exist before it has ended':
    'このノードを囲むループ {0} を参照しています。ループの出力は、終わるまでありません',
  'reads {}, which is inside the loop {}; read the output of the loop':
    '{0} を参照していますが、ループ {1} の中にあります。ループの出力を参照してください',
  'there is no credential {} in this organisation; choose another or add it':
    '認証情報 {0} はこの組織にありません。別のものを選ぶか、追加してください',
  'there is no credential {}, which the constant {} names; set it in the settings of the workflow':
    '定数 {1} が指す認証情報 {0} はありません。ワークフローの設定で指定してください',

  // Structure: what cannot even be saved.
  'must be an object with nodes and edges': 'nodes と edges を持つオブジェクトでなければなりません',
  'has {} nodes; at most {} are allowed': 'ノードが {0} 個あります。上限は {1} 個です',
  'has {} edges; at most {} are allowed': '接続が {0} 本あります。上限は {1} 本です',
  '{} is the id of another node; ids must be unique': '{0} は別のノードの ID です。ID は重複できません',
  '{} is the id of another edge; ids must be unique': '{0} は別の接続の ID です。ID は重複できません',
  'must be a number of ordinary size': '通常の大きさの数値でなければなりません',
  'must be the id of a loop node': 'ループのノードの ID でなければなりません',
  'there is no node {}': 'ノード {0} はありません',
  'there is no node {}; remove the edge or add it':
    'ノード {0} はありません。接続を削除するか、ノードを追加してください',
  '{} is not a loop; its type must be {}': '{0} はループではありません。種類は {1} でなければなりません',
  'a loop cannot be inside itself; take it out of this one':
    'ループを自身の中に置くことはできません。外に出してください',
  'is inside more than {} loops; take it out of some of them':
    '{0} 個を超えるループの中にあります。いくつかの外に出してください',
  'closes a cycle: {}; remove one of its edges, repetition is what loop nodes are for':
    '循環しています: {0}。接続を 1 本削除してください。繰り返しにはループのノードを使います',
  'is required and must be an array': '必須で、リストでなければなりません',
  'must not be empty': '空にできません',
  'must be a whole number from {} to {}': '{0} から {1} までの整数でなければなりません',
  'is not known here; known are {}': 'ここでは使えません。使えるのは {0} です',

  // Templates.
  'the expression is empty; write a path such as {{trigger.data.name}}':
    '式が空です。{{trigger.data.name}} のようなパスを書いてください',
  'more than {} filters in one expression': '1 つの式に書けるフィルターは {0} 個までです',
  'the expression is longer than {} characters': '式が {0} 文字を超えています',
  'a path must begin with a name; {}': 'パスは名前で始めてください。{0}',
  'the expression has no closing }}; write \\{{ where two braces are meant as text':
    '式が }} で閉じられていません。波かっこを文字として書くには \\{{ とします',
  '"{}" cannot stand here; an expression is a path and filters, such as {{trigger.data.name | upper}}':
    '「{0}」はここに書けません。式は {{trigger.data.name | upper}} のように、パスとフィルターで書きます',
  'a name must follow the dot; write ["..."] for a name with spaces or dots':
    'ドットの後には名前が必要です。空白やドットを含む名前は ["..."] と書いてください',
  '[ ] must hold a name in quotes or an index, such as ["first name"] or [0]':
    '[ ] の中は、引用符で囲んだ名前か番号です（例: ["first name"]、[0]）',
  'a ] is missing': '] がありません',
  'the name of a filter must follow the |': '| の後にはフィルターの名前が必要です',
  'there is no filter "{}"; the filters are {}': '「{0}」というフィルターはありません。使えるのは {1} です',
  'the filter "{}" takes {}: {}': 'フィルター「{0}」の引数が合いません（{1}）。例: {2}',
  'the filter "{}" knows {} only': 'フィルター「{0}」で使えるのは {1} だけです',
  'the filter "{}" takes no argument': 'フィルター「{0}」に引数はありません',
  'the filter "{}" takes the name of a time zone as its second argument, such as "Asia/Tokyo" or "UTC"':
    'フィルター「{0}」の 2 番目の引数はタイムゾーンの名前です（例: "Asia/Tokyo"、"UTC"）',
  'the filter "{}" takes "asc" or "desc" as its second argument':
    'フィルター「{0}」の 2 番目の引数は "asc" または "desc" です',
  'the filter "{}" takes one of {} as its argument': 'フィルター「{0}」の引数は {1} のいずれかです',
  'only \\" \\\' \\\\ \\n and \\t may follow a backslash in a string':
    '文字列の中で \\ の後に書けるのは \\" \\\' \\\\ \\n \\t だけです',
  'the string has no closing quote': '文字列が引用符で閉じられていません',

  // Values and their schema.
  'is required': '必須です',
  'is not known here; remove it or check how it is spelled':
    'ここでは使えません。削除するか、つづりを確認してください',
  'must be one of {}': '次のいずれかでなければなりません: {0}',
  'must be {}': '{0} でなければなりません',
  'must have at least {}': '{0}以上必要です',
  'must have at most {}': '{0}以内でなければなりません',
  'must be {} or more': '{0} 以上でなければなりません',
  'must be {} or less': '{0} 以下でなければなりません',
  'must be more than {}': '{0} より大きくなければなりません',
  'must be less than {}': '{0} より小さくなければなりません',
  'must be a multiple of {}': '{0} の倍数でなければなりません',
  'must match the pattern {}': 'パターン {0} に合わなければなりません',
  'must have the format {}': '{0} の形式でなければなりません',
  'must be an ISO 8601 time with an offset, such as 2026-11-20T09:30:00Z':
    'オフセット付きの ISO 8601 の日時でなければなりません（例: 2026-11-20T09:30:00+09:00）',
  'must not contain U+0000 or half of a surrogate pair; remove the character':
    '使えない文字（U+0000 またはサロゲートの片割れ）が含まれています。削除してください',
  'is not a regular expression': '正規表現として正しくありません',
  'is longer than {} characters': '{0} 文字を超えています',
  'has a lookahead that is not right behind a ^ at its start, which is not supported':
    '先読みは先頭の ^ の直後でのみ使えます',
  'has a lookahead in one of several alternatives, which is not supported':
    '先読みは選択肢の中では使えません',
  'has a reference to a group, {}, which is not supported': 'グループの参照 {0} は使えません',
  'has {}, which is not supported': '{0} は使えません',
  'repeats something more than 1,000 times, which is not supported; limit the length with maxLength':
    '1,000 回を超える繰り返しは使えません。長さは maxLength で制限してください',
  'is too large': '大きすぎます',
  'the pattern {} cannot be used: it {}': 'パターン {0} は使えません: {1}',
  'the text is too long for the pattern {}, which takes at most {} characters':
    'パターン {0} には長すぎる文字列です（{1} 文字まで）',
  'there are too many names for the pattern {}': 'パターン {0} には項目名が多すぎます',
  'is nested deeper than {} levels': '入れ子が {0} 段を超えています',
  'refers to another document; only references that begin with # are followed':
    '別の文書を参照しています。使えるのは # で始まる参照だけです',
  'leads nowhere: this schema has no {}': '参照先がありません。このスキーマに {0} はありません',
  'leads to something that is not a schema: {}': '参照先の {0} はスキーマではありません',
  'leads back to itself without going on to a part of the value':
    '値の一部へ進まないまま自身に戻る、循環した参照です',
  'must be a schema: an object, true or false':
    'スキーマ（オブジェクト、true、false のいずれか）でなければなりません',
  'must be a schema, not a list; schemas by position go into prefixItems':
    'リストではなくスキーマでなければなりません。位置ごとのスキーマは prefixItems に書きます',
  'must be a list of schemas, with at least one in it': 'スキーマが 1 つ以上入ったリストでなければなりません',
  'must be an object whose members are schemas': '各項目がスキーマのオブジェクトでなければなりません',
  'must be an object whose members are schemas or lists of different strings':
    '各項目がスキーマか、重複のない文字列のリストのオブジェクトでなければなりません',
  'must be string, number, integer, boolean, object, array or null, or a list of some of them':
    'string、number、integer、boolean、object、array、null のいずれか、またはそのリストでなければなりません',
  'must be a whole number of 0 or more': '0 以上の整数でなければなりません',
  'must be a number above 0': '0 より大きい数値でなければなりません',
  'must be a list': 'リストでなければなりません',
  'must be a list of different strings': '重複のない文字列のリストでなければなりません',
  'must be an object whose members are lists of different strings':
    '各項目が重複のない文字列のリストのオブジェクトでなければなりません',
  'must be an object whose members are true or false':
    '各項目が true か false のオブジェクトでなければなりません',
  'must be an address without a name behind #': '# の後に名前のないアドレスでなければなりません',
  'must be a name of letters, digits, -, _ and dots that does not begin with a digit':
    '英数字、-、_、ドットだけで、数字以外で始まる名前でなければなりません',
  'cannot be checked: {}': '確認できません: {0}',
  'is not valid: {}': '正しくありません: {0}',

  // What is left empty.
  'is empty; fill it in': '空です。入力してください',
  'is empty; give the constant {} a value in the settings of the workflow':
    '空です。ワークフローの設定で定数 {0} に値を入れてください',
  'names no credential; choose one': '認証情報が選ばれていません。選んでください',
  'names no credential; choose one for the constant {} in the settings of the workflow':
    '認証情報が選ばれていません。ワークフローの設定で、定数 {0} に指定してください',
  'names no workflow; choose one': 'ワークフローが選ばれていません。選んでください',
  'names no workflow; choose one for the constant {} in the settings of the workflow':
    'ワークフローが選ばれていません。ワークフローの設定で、定数 {0} に指定してください',
  'is empty, and so are cc and bcc; name somebody to send to':
    'Cc と Bcc も含めて空です。宛先を入力してください',
  'is empty, and so are html and attachments; write what to send':
    'HTML と添付ファイルも含めて空です。送る内容を入力してください',
  'is empty, and so are title, fields and link; write what to send':
    'タイトル、項目、リンクも含めて空です。送る内容を入力してください',
  'is empty, and so are duration and until; give one of them':
    '期間、日時も含めて空です。いずれか 1 つを入力してください',

  // What nodes find in their own settings.
  'is no name of a header': 'ヘッダーの名前として正しくありません',
  'is set by the service alone; leave it out': 'サービスが設定するため、指定できません',
  'is neither an IP address nor a network: {}; write it as 203.0.113.7 or 203.0.113.0/24':
    'IP アドレスでもネットワークでもありません: {0}。203.0.113.7 や 203.0.113.0/24 のように書いてください',
  'must name the header that carries the signature': '署名が入るヘッダーの名前を指定してください',
  'must name the header with the time, because the time is part of what is signed':
    '時刻も署名の対象なので、時刻が入るヘッダーの名前を指定してください',
  'is looked at before the workflow runs, so it cannot hold a template; write a constant':
    'ワークフローの実行前に使われるため、テンプレートは使えません。値を書いてください',
  'is fixed when the workflow is saved, so it cannot hold a template; write a constant':
    '保存時に決まるため、テンプレートは使えません。値を書いてください',
  'is no time zone: {}; write an IANA name such as Europe/Berlin':
    'タイムゾーンではありません: {0}。Asia/Tokyo のような IANA 名を書いてください',
  'is no time zone; write an IANA name such as Europe/Berlin':
    'タイムゾーンではありません。Asia/Tokyo のような IANA 名を書いてください',
  'cannot be read as cron: {}': 'cron 式として読み取れません: {0}',
  'there is no {} here; there are {}': '{0} は使えません。使えるのは {1} です',
  '"?" has no fixed meaning; write "*"': '「?」は意味が定まりません。「*」と書いてください',
  'it has {} fields; write five, or six with seconds in front':
    'フィールドが {0} 個あります。5 個、または先頭に秒を加えた 6 個で書いてください',
  '{} goes past the end of the month, and months differ in length; write the days one by one':
    '{0} は月末をまたぎますが、月の長さは一定ではありません。日を 1 つずつ書いてください',
  'names no day that ever comes': '該当する日がありません',
  'must be less than the {} seconds that can lie between two fires':
    '起動の間隔の最短（{0} 秒）より短くしてください',
  'may not be ai.agent: the tools of the inner one would be lost. Put it into a workflow and use that as the tool':
    'ai.agent は使えません（内側のツールが失われます）。ワークフローに入れ、それをツールとして使ってください',
  'must begin with a letter and have letters, digits, _ and - only, at most 64':
    '英字で始まり、英数字、_、- だけの 64 文字以内でなければなりません',
  'may not be {}: some providers use that name themselves':
    '{0} は使えません。プロバイダー自身が使う名前です',
  'is the name of another tool too': '別のツールと名前が重複しています',
  'must be of type object': 'オブジェクト型でなければなりません',
};

/** What stands inside a sentence: kinds of values, amounts, what a filter takes. */
export const partsJa: { readonly [part: string]: string } = {
  'the config': '設定',
  'a string': 'テキスト',
  'a whole number': '整数',
  'a number': '数値',
  'true or false': 'true か false',
  'an object': 'オブジェクト',
  'an array': 'リスト',
  '{} or {}': '{0} または {1}',
  '{} character': '{0} 文字',
  '{} characters': '{0} 文字',
  '{} item': '{0} 件',
  '{} items': '{0} 件',
  '{} member': '{0} 項目',
  '{} members': '{0} 項目',
  Viewer: '閲覧者',
  Editor: '編集者',
  'Organisation admin': '組織管理者',
  'System admin': 'システム管理者',
  draft: '下書き',
  active: '有効',
  inactive: '無効',
  archived: 'アーカイブ済み',
  queued: '開始待ち',
  running: '実行中',
  waiting_async: '待機中',
  completed: '完了',
  failed: '失敗',
  cancelled: 'キャンセル済み',
  somebody: '誰か',
  'one argument, the field to take of each item': '各要素から取り出す項目を 1 つ',
  'one or two arguments, a field and the value it must have': '項目と、その値を 1 つか 2 つ',
  'at most two arguments, the field to sort by and "asc" or "desc"':
    '並べ替える項目と "asc" か "desc" を 2 つまで',
  'at most one argument, the field that must differ': '比べる項目を 1 つまで',
  'at most two arguments, a format and a time zone': '書式とタイムゾーンを 2 つまで',
  'at most one argument, one of {}': '{0} のいずれかを 1 つまで',
  'one argument, a number': '数値を 1 つ',
  'at most one argument, the field of the items': '要素の項目を 1 つまで',
  'at most one argument, the number of decimal places': '小数点以下の桁数を 1 つまで',
  'one argument, the value to use instead': '代わりに使う値を 1 つ',
  'two arguments, the text to look for and what to put in its place': '探す文字列と、置き換える文字列を 2 つ',
  'one or two arguments, the first position and the one to stop before': '開始位置と終了位置を 1 つか 2 つ',
  'one argument, what to look for': '探すものを 1 つ',
  'at most one argument, the text to split at': '区切りの文字列を 1 つまで',
  'at most one argument, the text between the items': '間に入れる文字列を 1 つまで',
};
