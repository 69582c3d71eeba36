import { failure, isJsonObject, type JsonObject, success, textOrJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { type Static, Type } from 'typebox';
import {
  answerSchema,
  branchesOf,
  type ClassQuestion,
  classesProperty,
  classInstructions,
  findClassFaults,
  OTHER,
  readClasses,
  unfitClass,
} from './classify/classes.ts';
import { askForValue, type ValueQuestion, valueRequest } from './model/ask-for-value.ts';
import { callProperties, MAX_CALL_TIMEOUT_MS, MODEL_RETRY, promptSchema } from './model/config.ts';
import { exampleAnswer, exampleCredential } from './model/examples.ts';
import { callProblemOf, describeRequest, limitOf } from './model/request.ts';
import { presentUsage } from './model/usage.ts';

/** An answer that isn't one of the classes is corrected once: the names are all there is to get wrong. */
const REPAIRS = 1;

const properties = {
  ...callProperties,
  text: promptSchema('Text', 'What is classified. Objects and lists are inserted as JSON.', {
    'x-filled': true,
  }),
  classes: classesProperty,
  mode: choice(
    'Mode',
    'Whether the text belongs to one class only or to any number of them. Each takes its branch.',
    { one: 'One class', several: 'Several classes' },
    { default: 'one' },
  ),
  system: promptSchema('Instructions', 'What the model should also know, such as rules for unclear cases.'),
  min_confidence: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
    title: 'Minimum confidence',
    description:
      "From 0 to 1. The model says how certain it is, and a class below this doesn't count. Empty: it isn't asked.",
    default: null,
  }),
  with_reason: Type.Boolean({
    title: 'Give a reason',
    description: 'The model says why, in output.reason. It chooses better then, and costs more tokens.',
    default: false,
  }),
};

type Config = Static<ReturnType<typeof Type.Object<typeof properties>>>;

const mailClasses = [
  { name: 'order', description: 'About an order that was placed: delivery, changes, invoices.' },
  { name: 'complaint', description: 'Something is broken, late or wrong.' },
];

export const aiClassify = checkedNode({
  type: 'ai.classify',
  title: 'Classify a text',
  description:
    'Lets a language model say which of your classes a text belongs to, and takes the branch of each, otherwise `other`. Tokens are counted. In test mode, nothing is sent and `other` is taken.',
  icon: 'tags',
  kind: 'effect',
  properties,
  required: ['credential_id', 'model', 'text', 'classes'],
  defaultTimeoutMs: MAX_CALL_TIMEOUT_MS + 10_000,
  defaultRetry: MODEL_RETRY,
  handles: branchesOf,
  findFaults: findClassFaults,
  form: {
    main: ['credential_id', 'model', 'text', 'classes', 'mode'],
    sections: [
      { title: 'Rules and reasons', fields: ['system', 'min_confidence', 'with_reason'] },
      { title: 'Model settings', fields: ['temperature', 'max_tokens'] },
      { title: 'Limits', fields: ['timeout_ms'] },
    ],
  },
  synonyms: [
    'classifier',
    'categorise',
    'categorize',
    'category',
    'label',
    'intent',
    'sentiment',
    'triage',
    'route',
    'llm',
  ],
  examples: [
    {
      title: 'Sort mails',
      config: {
        credential_id: 1,
        model: 'gpt-4.1-mini',
        text: '{{trigger.data}}',
        classes: mailClasses,
        with_reason: true,
      },
      trigger: { subject: 'Where is my parcel?', body: 'It was due on Monday.' },
      credential: exampleCredential('openai_compatible'),
      ai: [
        {
          ...exampleAnswer('{"reason":"The parcel is late.","class":"complaint"}', 120, 14),
          object: { reason: 'The parcel is late.', class: 'complaint' },
        },
      ],
      expect: {
        output: {
          classes: ['complaint'],
          class: 'complaint',
          reason: 'The parcel is late.',
          usage: { input_tokens: 120, output_tokens: 14, total_tokens: 134 },
          model: 'gpt-4.1-mini',
        },
        handles: ['complaint'],
        consumedAiTokens: 134,
      },
    },
    {
      title: 'Not certain enough',
      config: {
        credential_id: 1,
        model: 'claude-sonnet-4-5',
        text: '{{trigger.data.body}}',
        classes: mailClasses,
        min_confidence: 0.7,
      },
      trigger: { body: 'Hello?' },
      credential: exampleCredential('anthropic'),
      ai: [
        {
          ...exampleAnswer('{"class":"order","confidence":0.3}', 110, 12),
          object: { class: 'order', confidence: 0.3 },
        },
      ],
      expect: {
        output: {
          classes: [],
          class: null,
          confidence: { order: 0.3 },
          usage: { input_tokens: 110, output_tokens: 12, total_tokens: 122 },
          model: 'claude-sonnet-4-5',
        },
        handles: ['other'],
        consumedAiTokens: 122,
      },
    },
  ],
  async run(config, context) {
    const problem = callProblemOf(config);
    if (problem !== undefined) return failure('invalid_config', problem);
    const unfit = unfitClass(config.classes);
    if (unfit !== undefined) {
      return failure('invalid_config', message('nodes.class_name', { name: unfit }));
    }
    const about = classQuestion(config);
    const question: ValueQuestion = {
      system: classInstructions(about, textOrJson(config.system)),
      text: textOrJson(config.text),
      schema: answerSchema(about),
      repairs: REPAIRS,
    };
    if (question.text.trim() === '') return failure('invalid_config', message('nodes.empty_text'));
    const credential = await context.credentials.open(config.credential_id, { types: ['ai'] });
    if (context.execution.isTestMode) {
      const { maxOutputTokens } = limitOf(config, { left: context.aiTokensLeft });
      const request = valueRequest(config, question, maxOutputTokens);
      return success({ dry_run: true, request: describeRequest(request, credential) }, { handles: [OTHER] });
    }
    const found = await askForValue(config, question, credential, context);
    if (found.kind === 'failure') return found;
    const { consumedAiTokens } = found;
    const read = readClasses(found.value, about);
    const counting = read.filter(({ confidence }) => (confidence ?? 1) >= (config.min_confidence ?? 0));
    const classes = counting.map(({ class: name }) => name);
    const output: JsonObject = {
      classes,
      class: classes[0] ?? null,
      ...(about.hasConfidence
        ? { confidence: Object.fromEntries(read.map((each) => [each.class, each.confidence])) }
        : {}),
      ...(about.hasReason && isJsonObject(found.value) ? { reason: found.value.reason ?? '' } : {}),
      usage: presentUsage(found.usage),
      model: config.model,
    };
    return success(output, { handles: classes.length === 0 ? [OTHER] : classes, consumedAiTokens });
  },
});

function classQuestion({ classes, mode, min_confidence, with_reason }: Config): ClassQuestion {
  return { classes, mode, hasConfidence: min_confidence !== null, hasReason: with_reason };
}
