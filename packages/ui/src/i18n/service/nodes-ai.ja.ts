/** `ai.*`. */
export const nodesAiJa: { readonly [text: string]: string } = {
  'Ask a model': 'モデルに質問',
  'Asks a language model once: any OpenAI-compatible, Anthropic or Google model. The answer is text, or JSON that fits a schema. Tokens are counted, also of answers that fail. In test mode nothing is sent.':
    '言語モデル（OpenAI 互換、Anthropic、Google）に 1 回質問します。回答は、文章またはスキーマに合う JSON です。トークンは失敗した回答の分も数えます。テストモードでは何も送りません。',
  'Of type ai: whose format is spoken, base URL and key.':
    '「AI」型の認証情報です。プロバイダーの形式、ベース URL、キーが入っています。',
  Model: 'モデル',
  'The name the provider gives it, such as gpt-4.1-mini, claude-sonnet-4-5 or gemini-2.5-flash.':
    'プロバイダーでのモデル名です（例: gpt-4.1-mini、claude-sonnet-4-5、gemini-2.5-flash）。',
  Instructions: '指示',
  'What the model is and how it should answer. Keep data out of it: put that into the prompt.':
    'モデルの役割と答え方です。データはここではなくプロンプトに書いてください。',
  Prompt: 'プロンプト',
  'What is asked. An object or a list is put in as JSON.':
    '質問の内容です。オブジェクトとリストは JSON として埋め込まれます。',
  Answer: '回答の形式',
  'json: the answer is one value that fits the schema, in output.json.':
    'json: スキーマに合う値を 1 つ、output.json で返します。',
  Schema: 'スキーマ',
  'JSON Schema of the answer, for output json. An answer that does not fit is the failure ai_invalid_output, which is tried again.':
    '回答の JSON Schema です（形式が json の場合）。合わない回答は ai_invalid_output で失敗とし、再試行します。',
  Temperature: '温度',
  "0 for the most likely words, more for variety; null is the model's own. Some models refuse it.":
    '0 なら最も確からしい語を選び、大きいほど多様になります。null ならモデルの既定値です。指定できないモデルもあります。',
  'Most tokens of an answer': '回答の最大トークン数',
  "null is the model's own limit. Less is asked for when the token budget has less left.":
    'null ならモデルの上限です。トークンの予算の残りが少ないときは、その分だけを求めます。',
  'Milliseconds for one answer of the model, from the request to its last word.':
    'リクエストから回答の最後までの制限時間（ミリ秒）です。',
  'Summarise a text': '文章を要約する',
  'Sort a mail into a category': 'メールを分類する',

  Agent: 'エージェント',
  'Lets a language model reach an answer by calling tools: nodes and workflows of this organisation. Steps, tokens and time are limited, and every step is in the output. In test mode nothing is sent and no tool runs.':
    '言語モデルがツール（この組織のノードとワークフロー）を呼び出しながら答えを導きます。手順、トークン、時間には上限があり、すべての手順が出力に入ります。テストモードでは何も送らず、ツールも動きません。',
  'A node of the catalogue.': 'カタログにあるノードです。',
  'By which the model calls it: letters, digits, _ and -, at most 64.':
    'モデルが呼び出すときの名前です。英数字、_、- を 64 文字まで使えます。',
  Description: '説明',
  'What it does, when to use it and what it returns. The model knows nothing else of it.':
    '何をするか、いつ使うか、何を返すかを書きます。モデルが知るのはこの説明だけです。',
  Arguments: '引数',
  'JSON Schema of the arguments, an object. Arguments that do not fit are sent back to the model.':
    '引数（オブジェクト）の JSON Schema です。合わない引数はモデルに差し戻されます。',
  Node: 'ノード',
  'Type of the node, such as http.request. Triggers, loops, agents and nodes that wait cannot be tools.':
    'ノードの種類です（例: http.request）。トリガー、ループ、エージェント、待機するノードはツールにできません。',
  Settings: '設定',
  'As of that node. {{args.name}} stands for an argument; other templates work as everywhere.':
    'そのノードの設定です。{{args.名前}} が引数になります。ほかのテンプレートも通常どおり使えます。',
  'A workflow of this organisation. Its trigger data are the arguments.':
    'この組織のワークフローです。引数がトリガーのデータになります。',
  'Id of the workflow. The node waits for its end.': 'ワークフローの ID です。ノードはその終了を待ちます。',
  Tools: 'ツール',
  'What the model may call: nodes and workflows. They run one after the other, in the order it asks.':
    'モデルが呼び出せるノードとワークフローです。モデルが求めた順に 1 つずつ実行します。',
  'Most steps': '最大手順数',
  'Answers of the model, those in which it calls tools included.':
    'モデルの回答の回数です。ツールを呼び出す回答も含みます。',
  'Token budget': 'トークンの予算',
  'Tokens of all steps together, those of tools that ask models too; besides the budget of the execution. null is no limit.':
    'すべての手順（モデルを使うツールを含む）で使えるトークンの合計です。実行の予算とは別に適用されます。null なら制限しません。',
  'Longest result of a tool': 'ツールの結果の最大文字数',
  'Characters of a result that the model is told; the rest is cut off, and the model is told so.':
    'モデルに渡す結果の文字数です。残りは切り捨て、そのことをモデルに伝えます。',
  'Timeout of all steps': '全体の制限時間',
  'Milliseconds for the whole conversation, tools included.':
    'ツールを含む会話全体の制限時間（ミリ秒）です。',
  'Answer a question without needing a tool': 'ツールを使わずに質問に答える',
  'The model does not come to an end': 'モデルの手順が終わらない場合',
};
