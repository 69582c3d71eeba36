/** `core.data`, `core.code` and `data.store`. */
const step = (index: number, rest: string): string =>
  `core.data/properties/steps/items/anyOf/${index}/${rest}`;

export const nodesDataJa: { readonly [text: string]: string } = {
  'Transform data': 'データの変換',
  'Transforms lists, objects and texts in steps, without code; each step takes what the one before it made. The output is {data, count}: what came out, and how many items it has when it is a list (else null). A step that cannot work on what it is given fails with invalid_data and says which item is wrong.':
    'リスト、オブジェクト、文字列を、コードを書かずに段階的に変換します。各ステップは前のステップの結果を受け取ります。出力は {data, count} で、結果と、結果がリストの場合の件数（それ以外は null）です。処理できないデータを受け取ると invalid_data で失敗し、どの要素が問題かを示します。',
  Data: 'データ',
  'The list, object or text to work on, usually a template such as {{trigger.data.items}}.':
    '変換するリスト、オブジェクト、文字列です。ふつうは {{trigger.data.items}} のようなテンプレートを書きます。',
  Operation: '処理',
  'Keeps the fields named, of each item or of the object; others are left out.':
    '各要素またはオブジェクトから、指定した項目だけを残します。',
  Fields: '項目',
  'Dotted paths such as id or address.city.': 'ドットで区切ったパスです（例: id、address.city）。',
  'Pick fields': '項目を選ぶ',
  'Leaves out the fields named.': '指定した項目を取り除きます。',
  'Dotted paths such as password or address.street.':
    'ドットで区切ったパスです（例: password、address.street）。',
  'Omit fields': '項目を除く',
  'Moves fields to other names.': '項目の名前を変えます。',
  From: '元の名前',
  'Dotted path of the field.': '項目のパスをドットで区切って書きます。',
  To: '新しい名前',
  'Its new name; a dotted path puts it into an object.':
    '変更後の名前です。ドットで区切ると、オブジェクトの中に入ります。',
  Names: '名前の対応',
  'What is renamed; all at the same time, so two fields can change places.':
    '名前を変える項目です。同時に変えるので、2 つの項目の入れ替えもできます。',
  'Rename fields': '項目の名前を変える',
  'Sorts a list; items that are equal keep their order.':
    'リストを並べ替えます。等しい要素は元の順序を保ちます。',
  'Dotted path; empty for the item itself.': 'ドットで区切ったパスです。空なら要素そのものです。',
  Direction: '順序',
  'Ascending or descending. Null is last in both.': '昇順または降順です。null はどちらでも最後になります。',
  'Compared as': '比べ方',
  'auto: numbers by value, then texts by their characters, then booleans. number: texts that are numbers count as such. text: numbers count as text.':
    'auto: 数値は大きさ、文字列は文字の順、その後に真偽値と続きます。number: 数値を表す文字列は数値とみなします。text: 数値も文字列とみなします。',
  By: '基準',
  'Fields to sort by, the most important one first.': '並べ替えの基準となる項目です。優先する順に書きます。',
  Sort: '並べ替える',
  'Keeps one of the items that are equal.': '等しい要素のうち 1 つだけを残します。',
  'Fields that must be equal; none for the whole item.':
    '等しいかどうかを比べる項目です。なければ要素全体で比べます。',
  Keep: '残す要素',
  'Which one of them is kept.': '等しい要素のうち、どれを残すかです。',
  Unique: '重複を除く',
  'Makes a list of groups {key, items, count}, in the order in which they first appear. key is an object of the values they share.':
    'グループ {key, items, count} のリストを、最初に現れた順に作ります。key は共通する値のオブジェクトです。',
  'Dotted paths whose values make a group; in key each stands under its last name.':
    'グループ分けに使う項目のパスです。key には、パスの最後の名前で入ります。',
  Group: 'グループ分けする',
  'Counts, adds up and compares: one object of results, or one for each group.':
    '件数、合計、最大値などを求めます。結果は 1 つのオブジェクト、またはグループごとのオブジェクトです。',
  'Dotted paths whose values make a group and stand beside its results; none for one result over all.':
    'グループ分けに使う項目のパスです。値は結果と並べて出力されます。なければ全体で 1 つの結果になります。',
  Function: '関数',
  'count: all items, or with a field those that have it. The others leave out items whose field is null. Sums and averages are exact decimals, averages to 15 digits when they do not end.':
    'count: すべての要素、または項目を指定した場合はその項目を持つ要素を数えます。ほかの関数は、項目が null の要素を除きます。合計と平均は正確な十進数で、割り切れない平均は 15 桁です。',
  'What the result is called; empty for function_field, such as sum_price.':
    '結果の名前です。空なら sum_price のように「関数_項目」になります。',
  Results: '求める値',
  'What is worked out.': '計算する内容です。',
  Aggregate: '集計する',
  'Joins the items of this list and another one whose fields are equal.':
    'このリストと別のリストから、項目の等しい要素どうしを結合します。',
  With: '結合する相手',
  'The other (right) list, usually a template.': '相手（右側）のリストです。ふつうはテンプレートを書きます。',
  'Left field': '左の項目',
  'Dotted path in this list.': 'このリストの中のパスです。',
  'Right field': '右の項目',
  'Dotted path in the other list.': '相手のリストの中のパスです。',
  On: '結合の条件',
  'Fields that must all be equal. A text that is a number equals that number; null equals nothing.':
    'すべて等しくなければならない項目です。数値を表す文字列はその数値と等しいとみなし、null は何とも等しくありません。',
  Type: '種類',
  'inner: items with a partner. left, right: all of that list as well. full: all of both.':
    'inner: 相手のある要素だけ。left、right: その側のリストの要素をすべて含めます。full: 両方をすべて含めます。',
  As: '格納先',
  'Member that takes the right item (null without a partner); empty to add its members to the left item, whose own win.':
    '右の要素を入れる項目です（相手がなければ null）。空なら右の項目を左の要素に加え、同じ名前は左を優先します。',
  Join: '結合する',
  'Makes lists of a number of items each.': '決まった件数ずつのリストに分けます。',
  Size: '件数',
  'Items in each list; the last one has what is left.':
    '1 つのリストの件数です。最後のリストは残りの件数になります。',
  'Split a list': 'リストを分ける',
  'Makes a list of a text.': '文字列からリストを作ります。',
  'Dotted path of the text; empty when the data itself is the text.':
    '文字列のパスです。データそのものが文字列なら空にします。',
  Separator: '区切り',
  'Text between the parts; empty for single characters.': '区切りの文字列です。空なら 1 文字ずつに分けます。',
  Trim: '前後の空白を除く',
  'White space around parts is taken away.': '分けた文字列の前後の空白を取り除きます。',
  'Skip empty': '空を除く',
  'Empty parts are left out.': '空の文字列を取り除きます。',
  'Split a text': '文字列を分ける',
  'Puts lists within the list into it, or makes an item of each item of a field.':
    '入れ子のリストを平らにするか、項目の中のリストを要素に展開します。',
  'Dotted path of a list: each item is repeated for each entry, which then stands in the field. Empty to flatten lists of lists.':
    'リストのある項目のパスです。その中身ごとに要素を複製し、項目には中身が 1 つずつ入ります。空なら入れ子のリストを平らにします。',
  Levels: '深さ',
  'How deep lists of lists are flattened.': '入れ子のリストを何段まで平らにするかです。',
  Flatten: '平らにする',
  'Keeps a part of a list.': 'リストの一部だけを残します。',
  Count: '件数',
  'Items kept.': '残す件数です。',
  Skip: '飛ばす件数',
  'Items left out before.': '先頭から飛ばす件数です。',
  Limit: '件数を絞る',
  'Writes a moment as text. Null stays null.': '日時を文字列にします。null はそのままです。',
  [step(12, 'properties/to/title')]: '書き込む項目',
  [step(13, 'properties/to/title')]: '書き込む項目',
  'Where the text goes; empty for the same field.': '結果を入れる項目です。空なら元の項目を書き換えます。',
  Format: '書式',
  'As the template filter date takes it, such as d MMMM yyyy, HH:mm.':
    'テンプレートの date フィルターと同じ書式です（例: yyyy/MM/dd HH:mm）。',
  "IANA time zone such as Asia/Tokyo, or an offset; the workflow's own zone (UTC without one) when not set.":
    'Asia/Tokyo のような IANA 名、またはオフセットです。指定しなければ、ワークフローのタイムゾーン（なければ UTC）です。',
  'Format a date': '日時を書式化する',
  'Writes a number as text, rounded half away from zero. Null stays null.':
    '数値を四捨五入して文字列にします。null はそのままです。',
  Decimals: '小数点以下の桁数',
  'Digits behind the point.': '小数点より後の桁数です。',
  'Decimal separator': '小数点の文字',
  'Before the decimals.': '小数部の前に置く文字です。',
  'Thousands separator': '桁区切りの文字',
  'Between groups of three digits; may be empty.': '3 桁ごとに入れる文字です。空でもかまいません。',
  'Before the digits, such as a currency sign; a minus stands before it.':
    '通貨記号など、数字の前に置く文字列です。マイナスはその前に付きます。',
  Suffix: '接尾辞',
  'After the digits.': '数字の後に置く文字列です。',
  'Format a number': '数値を書式化する',
  Steps: 'ステップ',
  'What is done, one after the other: pick, omit, rename, sort, unique, group, aggregate, join, chunk (a list into lists), split (a text into a list), flatten, limit, format_date, format_number.':
    '上から順に行う処理です。選ぶ、除く、名前を変える、並べ替える、重複を除く、グループ分け、集計、結合、分割、平らにする、絞る、日時や数値の書式化ができます。',
  'Revenue by country': '国別の売上',
  'Add customers to orders': '注文に顧客の情報を加える',
  'Amounts and dates for people': '金額と日付を読みやすくする',
  'Every tag once': '重複のないタグの一覧',
  'Orders of each customer': '顧客ごとの注文',
  'The best three, in pages of two': '上位 3 件を 2 件ずつに分ける',
  'A total over something that is no number': '数値でないものを合計した場合',

  Code: 'コード',
  'Runs JavaScript in a sandbox. What it returns is the output as `result`. There are no files, no network, no timers, no modules and nothing of the service in there: only `input`, `console`, the language itself, and of what browsers and Node have besides: Intl, URL, URLSearchParams, TextEncoder, TextDecoder, atob, btoa, structuredClone, crypto.subtle.digest, crypto.randomUUID and crypto.getRandomValues. A run keeps nothing for the next one.':
    '隔離された環境で JavaScript を実行します。return した値が出力の `result` になります。ファイル、ネットワーク、タイマー、モジュール、サービスの機能は使えません。使えるのは `input`、`console`、言語そのもの、そしてブラウザーや Node にあるもののうち Intl、URL、URLSearchParams、TextEncoder、TextDecoder、atob、btoa、structuredClone、crypto.subtle.digest、crypto.randomUUID、crypto.getRandomValues です。実行の間で状態は引き継がれません。',
  'The body of an async function of input: use return for the result, await for promises. The result is any JSON value; undefined counts as null. Whole numbers beyond 2^53 arrive as BigInt, and a BigInt is a number in the result. Templates are not put in here, because data must not become code: hand values over by input.':
    'input を受け取る async 関数の本体です。結果は return で返し、Promise には await を使います。結果は任意の JSON 値で、undefined は null になります。2^53 を超える整数は BigInt として渡され、結果の BigInt は数値になります。データがコードにならないよう、ここではテンプレートを使えません。値は input で渡してください。',
  'What the code sees as input: usually an object of templates such as {"order": "{{trigger.data}}"}.':
    'コードから input として参照する値です。ふつうは {"order": "{{trigger.data}}"} のような、テンプレートのオブジェクトを書きます。',
  'Time limit': '制限時間',
  'Milliseconds a run may take; longer ones are stopped with code_timeout.':
    '実行できる時間（ミリ秒）です。超えると code_timeout で停止します。',
  'Memory limit': 'メモリーの上限',
  'MiB a run may take; more ends it with code_memory.':
    '使えるメモリー（MiB）です。超えると code_memory で終わります。',
  'Add up what a list holds': 'リストの値を合計する',
  'Give back an object': 'オブジェクトを返す',
  'Code that throws': '例外を投げるコード',

  'Data store': 'データストア',
  'Keeps values between executions in a small table of the organisation: counters, the last id that was seen, what was done already. A write happens once, also when its node is run again. An organisation has at most 100,000 entries.':
    'カウンター、最後に見た ID、処理済みの記録など、実行をまたいで使う値を組織の小さな表に保存します。ノードが再実行されても、書き込みは 1 回だけ行われます。1 つの組織に保存できるのは 100,000 件までです。',
  'data.store/properties/operation/title': '操作',
  'get reads an entry. set writes one. increment adds to a number, safely while others do the same. delete removes one. list reads all whose key begins with a prefix.':
    'get は読み取り、set は書き込み、increment は数値への加算（同時に行っても安全）、delete は削除、list はキーが接頭辞で始まるすべての読み取りです。',
  Key: 'キー',
  'Name of the entry, 1 to 255 characters. All workflows of the organisation share them.':
    '値の名前です（1～255 文字）。組織のすべてのワークフローで共有されます。',
  Value: '値',
  'What set writes: any JSON value of at most 1 MiB.':
    'set で書き込む値です。1 MiB までの任意の JSON 値を保存できます。',
  'data.store/properties/by/title': '加える数',
  'What increment adds; negative to count down. An absent entry counts as 0.':
    'increment で加える数です。負の数なら減ります。まだない値は 0 とみなします。',
  'Only if absent': 'ないときだけ書き込む',
  'set leaves an entry that stands as it is; output.written says whether it wrote.':
    'すでに値があれば set は何もしません。書き込んだかどうかは output.written で分かります。',
  'Expires in': '有効期限（秒）',
  'Seconds after which the entry is gone, 0 for never. increment uses it for a new entry only, so that a counter ends at its time however often it is raised.':
    'この秒数が過ぎると値は消えます。0 なら消えません。increment では新しく作るときだけ適用されるため、何度加算しても決まった時刻に終わります。',
  'What the keys that list reads begin with; empty for all.':
    'list で読み取るキーの先頭部分です。空ならすべてです。',
  'data.store/properties/limit/title': '最大件数',
  'How many entries list reads at most.': 'list で読み取る最大の件数です。',
  'Count, each day anew': '日ごとに数え直す',
  'Do something once for each order': '注文ごとに 1 回だけ行う',
  'Read what may not be there': 'ないかもしれない値を読む',
};
