import {
  awaitSignal,
  failure,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NodeResult,
  success,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { checkedNode } from '@millrace/node-kit/define';
import { MAX_TIMEOUT_MS } from '@millrace/node-kit/http/config';
import { requestProperty } from '@millrace/node-kit/http/send-request';
import {
  cutTitle,
  DEFAULT_CHOICES,
  noticeArguments,
  notifyProperty,
  sendNotices,
} from '@millrace/node-kit/notices';
import { CALLBACK_GRACE_MS, DAY_S, expiryText, timeoutProperty } from '@millrace/node-kit/waits';
import {
  faultOfQuestions,
  questionsSchema,
  readFields,
  readQuestions,
  writeQuestion,
} from '@millrace/triggers';
import { type Static, Type } from 'typebox';

/** Names of the node's own handles. */
const RESERVED_IDS = ['timeout', 'error'];
const choiceSchema = Type.Object(
  {
    id: Type.String({
      title: 'ID',
      description: 'The name of the branch and the decision: lower-case letters, digits and underscores.',
      pattern: '^[a-z][a-z0-9_]{0,63}$',
      default: 'approve',
    }),
    label: Type.String({
      title: 'Label',
      description: 'The text on the button.',
      minLength: 1,
      maxLength: 200,
      default: 'Approve',
    }),
  },
  { title: 'Choice', additionalProperties: false },
);

const properties = {
  title: Type.String({
    title: 'Title',
    description: 'The question, in one line.',
    minLength: 1,
    default: 'Please decide',
    'x-filled': true,
  }),
  text: Type.String({
    title: 'Text',
    description: 'What people need to know to decide. Shown as plain text.',
    default: '',
    'x-multiline': true,
  }),
  choices: Type.Array(choiceSchema, {
    title: 'Choices',
    description: 'The possible decisions. Each one is a branch named after its ID.',
    minItems: 1,
    maxItems: 10,
    default: DEFAULT_CHOICES,
  }),
  fields: questionsSchema,
  timeout_s: timeoutProperty(
    'How many seconds to wait for the decision. After that, the branch timeout is taken.',
    7 * DAY_S,
  ),
  in_chat: Type.Boolean({
    title: 'Ask in the chat',
    description:
      'If a chat started the execution, its visitor sees the question on the chat page and may decide. On only for what visitors may decide themselves. The value is fixed: a template counts as off.',
    default: false,
  }),
  notify: notifyProperty(
    'A chat message or e-mail that asks for the decision. {{args.approval_url}} is the page with all choices; {{args.approve_url}} and {{args.reject_url}} (or the ID of another choice with _url) open the same page with that choice selected. Empty: none.',
  ),
  request: requestProperty(
    'An HTTP request that asks for the decision, with the same URLs. Empty: none.',
    null,
  ),
};
type Config = Static<ReturnType<typeof Type.Object<typeof properties>>>;

export const waitApproval = checkedNode({
  type: 'wait.approval',
  title: 'Wait for an approval',
  description:
    "Asks a person to decide, in the admin area or through a link in a message, and waits without occupying a worker. The first decision counts. Opening the link doesn't decide anything; the page has buttons. Anyone with the link can decide, so send it only to people who may. If a loop around this node is retried, it gets the earlier decision.",
  icon: 'user-check',
  kind: 'effect',
  properties,
  required: ['title'],
  deferred: { notify: 'arguments', request: 'arguments' },
  defaultTimeoutMs: MAX_TIMEOUT_MS + 10_000,
  handles: (config) => [...choiceIds(config.choices), 'timeout'],
  form: {
    main: ['title', 'text', 'choices', 'fields', 'timeout_s'],
    sections: [{ title: 'Tell people', fields: ['in_chat', 'notify', 'request'] }],
  },
  synonyms: ['approve', 'human', 'confirm', 'review', 'decision', 'ask', 'manual step'],
  examples: [
    {
      title: 'Ask in a chat whether to refund',
      config: {
        title: 'Refund order {{trigger.data.id}}?',
        text: '{{trigger.data.reason}}',
        notify: {
          type: 'chat.notify',
          config: { credential_id: 3, text: 'Refund order {{trigger.data.id}}? {{args.approval_url}}' },
        },
        timeout_s: 86_400,
      },
      trigger: { id: 17, reason: 'Arrived broken' },
      expect: {
        awaitsSignal: true,
        output: {
          title: 'Refund order 17?',
          text: 'Arrived broken',
          choices: DEFAULT_CHOICES,
          expires_at: '2026-01-02T00:00:00.000Z',
        },
      },
    },
    {
      title: 'Custom choices',
      config: {
        title: 'Where shall it go?',
        choices: [
          { id: 'tokyo', label: 'Tokyo' },
          { id: 'osaka', label: 'Osaka' },
        ],
      },
      expect: { awaitsSignal: true, output: { title: 'Where shall it go?' } },
    },
    {
      title: 'Ask for more than a decision',
      config: {
        title: 'Order a replacement?',
        fields: [
          { label: 'Quantity', name: 'quantity', type: 'number', required: true },
          { label: 'Reason', name: 'reason', type: 'paragraph' },
        ],
      },
      expect: { awaitsSignal: true, output: { title: 'Order a replacement?' } },
    },
    {
      title: 'Ask the visitor of a chat',
      config: { title: 'Shall I cancel order {{trigger.data.order}}?', in_chat: true },
      trigger: { order: 17 },
      expect: { awaitsSignal: true, output: { title: 'Shall I cancel order 17?' } },
    },
    {
      title: 'Two choices with the same ID',
      config: {
        title: 'Which?',
        choices: [
          { id: 'a', label: 'A' },
          { id: 'a', label: 'B' },
        ],
      },
      expect: { failure: { code: 'invalid_config' } },
    },
  ],
  async run(config, context) {
    const fault = faultOf(config);
    if (fault !== null) return failure('invalid_config', fault);
    const expiresAtMs = context.now() + config.timeout_s * 1_000;
    const { title, text, choices } = config;
    const fields = (readQuestions(config.fields as JsonValue) ?? []).map(writeQuestion);
    const asked = { title: cutTitle(title), text, choices, ...(fields.length === 0 ? {} : { fields }) };
    const urls = await context.callbacks.createApproval({ expiresAtMs, ...asked });
    const sent = await sendNotices(config, context, noticeArguments(urls));
    if ('failure' in sent) return sent.failure;
    if (context.execution.isTestMode) return testDecision(config, sent.outputs);
    const output = { ...asked, expires_at: expiryText(expiresAtMs), ...sent.outputs };
    return awaitSignal(expiresAtMs + CALLBACK_GRACE_MS, output);
  },
  resume({ fields }, _context, signal) {
    if (signal.kind === 'timeout') {
      const nobody = {
        ...{ decision: null, comment: '', decided_by: null, decided_at: null },
        ...(fields.length === 0 ? {} : { values: {} }),
      };
      return success({ ...nobody, timed_out: true }, { handles: ['timeout'] });
    }
    const { payload } = signal;
    if (!isJsonObject(payload) || typeof payload.decision !== 'string') {
      return failure('invalid_decision', message('nodes.not_a_decision'));
    }
    return success(payload, { handles: [payload.decision] });
  },
});

function faultOf({ choices, fields }: Config): Message | null {
  const questions = readQuestions(fields as JsonValue);
  const asked = questions === null ? null : faultOfQuestions(questions);
  if (asked !== null) return asked;
  const ids = choices.map(({ id }) => id);
  const reserved = ids.find((id) => RESERVED_IDS.includes(id));
  if (reserved !== undefined) return message('nodes.reserved_choice', { id: reserved });
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  return twice === undefined ? null : message('nodes.duplicate_choice', { id: twice });
}

/** From an unrendered config, which may be anything. */
function choiceIds(choices: JsonValue | undefined): string[] {
  const list = choices === undefined || !isJsonArray(choices) ? DEFAULT_CHOICES : choices;
  const ids = list.map((choice) => (isJsonObject(choice) ? choice.id : null));
  return [...new Set(ids.filter((id) => typeof id === 'string'))];
}

/** There is nobody to ask, so the first choice is taken. */
function testDecision({ choices, fields }: Config, outputs: JsonObject): NodeResult {
  const decision = choices[0]?.id ?? '';
  const values = fields.length === 0 ? {} : { values: presetsOf(fields as JsonValue) };
  const nobody = { comment: '', decided_by: null, decided_at: null, ...values };
  return success({ dry_run: true, decision, ...nobody, ...outputs }, { handles: [decision] });
}

/** What the fields would come to if nobody changed them; what isn't filled in is null. */
function presetsOf(fields: JsonValue): JsonObject {
  const questions = readQuestions(fields) ?? [];
  const optional = questions.map((field) => ({ ...field, required: false }));
  const given = Object.fromEntries(
    optional.flatMap(({ name, value }) => (value === '' ? [] : [[name, value] as const])),
  );
  return readFields(optional, given).values;
}
