import { failure, type JsonValue, success, textOrJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';
import { MAX_CALL_TIMEOUT_MS, MODEL_RETRY } from './model/config.ts';
import { batches, embedBatch, embedProperties, unfitText } from './model/embed-texts.ts';
import { exampleCredential } from './model/examples.ts';
import { callProblemOf } from './model/request.ts';

/** More would make an output that is too large: a vector takes some 30 KB as JSON. */
const MAX_TEXTS = 200;

export const aiEmbed = checkedNode({
  type: 'ai.embed',
  title: 'Embed texts',
  description:
    'Turns texts into vectors, by which texts of similar meaning are found: by any OpenAI-compatible or Google model. To store and search them here, use Vector store. Tokens are counted. In test mode, nothing is sent.',
  icon: 'waypoints',
  kind: 'effect',
  properties: {
    ...embedProperties,
    texts: Type.Unsafe<JsonValue>({
      type: ['array', 'string'],
      items: {},
      title: 'Texts',
      description: 'A text, or a list of at most 200. Values that are not texts are sent as JSON.',
      maxItems: MAX_TEXTS,
      default: '',
      'x-filled': true,
      'x-multiline': true,
    }),
    purpose: choice(
      'Purpose',
      'Whether the texts are searched or are what is searched for. Some models distinguish.',
      { document: 'Texts to be found', query: 'Search query' },
      { default: 'document' },
    ),
  },
  required: ['credential_id', 'model', 'texts'],
  defaultTimeoutMs: MAX_CALL_TIMEOUT_MS + 10_000,
  defaultRetry: MODEL_RETRY,
  form: {
    main: ['credential_id', 'model', 'texts', 'purpose'],
    sections: [{ title: 'Size and limits', fields: ['dimensions', 'timeout_ms'] }],
  },
  synonyms: ['embedding', 'embeddings', 'vector', 'semantic', 'similarity', 'rag', 'openai', 'gemini'],
  examples: [
    {
      title: 'Embed two texts',
      config: {
        credential_id: 1,
        model: 'text-embedding-3-small',
        texts: ['{{trigger.data.title}}', '{{trigger.data.body}}'],
      },
      trigger: { title: 'Mill', body: 'An old mill' },
      credential: exampleCredential('openai_compatible'),
      expect: {
        output: {
          vectors: [
            [4, 1, 1],
            [11, 3, 1],
          ],
          count: 2,
          dimension: 3,
          usage: { input_tokens: 4, output_tokens: 0, total_tokens: 4 },
          model: 'text-embedding-3-small',
        },
        consumedAiTokens: 4,
      },
    },
    {
      title: 'No text',
      config: { credential_id: 1, model: 'text-embedding-3-small', texts: ['{{trigger.data.title}}'] },
      trigger: { title: ' ' },
      credential: exampleCredential('openai_compatible'),
      expect: { failure: { code: 'invalid_config' } },
    },
  ],
  async run(config, context) {
    const problem = callProblemOf(config);
    if (problem !== undefined) return failure('invalid_config', problem);
    const given = Array.isArray(config.texts) ? (config.texts as readonly JsonValue[]) : [config.texts];
    const texts = given.map(textOrJson);
    if (texts.length === 0) return failure('invalid_config', message('nodes.no_texts'));
    const unfit = unfitText(texts);
    if (unfit !== undefined) return unfit;
    const credential = await context.credentials.open(config.credential_id, { types: ['ai'] });
    const { model, dimensions, purpose } = config;
    if (context.execution.isTestMode) {
      const { provider, base_url } = credential;
      const request = { provider, base_url, model, texts, purpose, dimensions };
      return success({ dry_run: true, request });
    }
    const vectors: (readonly number[])[] = [];
    let consumed = 0;
    for (const batch of batches(texts, ({ length }) => length)) {
      const made = await embedBatch(config, batch, purpose, { credential, context, consumed });
      if (made.kind === 'failure') return made;
      vectors.push(...made.vectors);
      consumed += made.tokens;
    }
    return success(
      {
        vectors,
        count: vectors.length,
        dimension: vectors[0]?.length ?? 0,
        usage: { input_tokens: consumed, output_tokens: 0, total_tokens: consumed },
        model,
      },
      { consumedAiTokens: consumed },
    );
  },
});
