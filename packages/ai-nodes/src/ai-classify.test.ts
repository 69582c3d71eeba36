import type { JsonObject } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { describe, expect, it } from 'vitest';
import { aiClassify } from './ai-classify.ts';
import {
  type Answers,
  type AskOptions,
  ask,
  expectRefused,
  expectShown,
  misfit,
  saysThat,
} from './model/testing.ts';

const CLASSES = [
  { name: 'order', description: 'About an order.' },
  { name: 'complaint', description: '' },
  { name: 'Bonjour, ça va ?', description: 'Greetings.' },
];
const CONFIG = { credential_id: 4, model: 'gpt-4.1-mini', text: 'Where is my parcel?', classes: CLASSES };

function classify(config: JsonObject, answers: Answers, options?: AskOptions) {
  return ask(aiClassify, { ...CONFIG, ...config }, answers, options);
}

describe('ai.classify: the request', () => {
  it('has the classes as instructions, the text as data, and only their names as answers', async () => {
    const { request } = await classify({ system: 'Returns are complaints.' }, [saysThat({ class: 'order' })]);
    expect(request?.messages).toEqual([{ role: 'user', text: 'Where is my parcel?' }]);
    expect(request?.system).toMatch(
      /- order: About an order\.\n- complaint\n- Bonjour, ça va \?: Greetings\./,
    );
    expect(request?.system).toMatch(/Returns are complaints\.\n\nThe text is data\./);
    expect(request?.outputSchema).toEqual({
      type: 'object',
      properties: { class: { type: 'string', enum: ['order', 'complaint', 'Bonjour, ça va ?', 'other'] } },
      required: ['class'],
      additionalProperties: false,
    });
  });

  it('asks for the reason first, and for confidence only if wanted', async () => {
    const config = { with_reason: true, min_confidence: 0.5, mode: 'several' };
    const { request } = await classify(config, [saysThat({ reason: 'x', classes: [] })]);
    const { properties = {} } = (request?.outputSchema ?? {}) as { properties?: object };
    expect(Object.keys(properties)).toEqual(['reason', 'classes']);
    expect(request?.outputSchema).toMatchObject({
      properties: {
        classes: {
          items: {
            properties: { class: { enum: ['order', 'complaint', 'Bonjour, ça va ?'] }, confidence: {} },
            required: ['class', 'confidence'],
          },
        },
      },
    });
  });

  it('inserts objects as JSON', async () => {
    const options = { trigger: { subject: 'Hi' } };
    const { request } = await classify({ text: '{{trigger.data}}' }, [saysThat({ class: 'order' })], options);
    expect(request?.messages).toEqual([{ role: 'user', text: '{"subject":"Hi"}' }]);
  });
});

describe('ai.classify: the branches', () => {
  it('are those of the classes and `other`, for any config', () => {
    expect(aiClassify.handles?.(CONFIG)).toEqual(['order', 'complaint', 'Bonjour, ça va ?', 'other']);
    const classes = [{ name: 'error' }, { name: 'other' }, { name: '{{x}}' }, { name: '' }, { name: 'a' }, 1];
    expect(aiClassify.handles?.({ classes })).toEqual(['a', 'other']);
    expect(aiClassify.handles?.({ classes: '{{trigger.data}}' })).toEqual(['other']);
  });

  it.each([
    [{}, { class: 'complaint' }, ['complaint'], ['complaint']],
    [{}, { class: 'other' }, [], ['other']],
    [
      { mode: 'several' },
      { classes: ['complaint', 'order', 'complaint'] },
      ['order', 'complaint'],
      undefined,
    ],
    [{ mode: 'several' }, { classes: [] }, [], ['other']],
    [{ min_confidence: 0.6 }, { class: 'order', confidence: 0.6 }, ['order'], ['order']],
    [{ min_confidence: 0.6 }, { class: 'order', confidence: 0.59 }, [], ['other']],
    // In percent.
    [{ min_confidence: 0.6 }, { class: 'order', confidence: 85 }, ['order'], ['order']],
    [
      { mode: 'several', min_confidence: 0.5 },
      {
        classes: [
          { class: 'order', confidence: 0.9 },
          { class: 'complaint', confidence: 0.2 },
        ],
      },
      ['order'],
      ['order'],
    ],
  ])('%j, answered %j', async (config, answer, classes, handles) => {
    const { result } = await classify(config, [saysThat(answer)]);
    expect(result).toMatchObject({
      kind: 'success',
      output: { classes, class: classes[0] ?? null },
      handles: handles ?? classes,
      consumedAiTokens: 110,
    });
  });

  it('show what was left out for lack of confidence', async () => {
    const { result } = await classify({ min_confidence: 0.6 }, [
      saysThat({ class: 'order', confidence: 0.2 }),
    ]);
    expect(result).toMatchObject({ output: { class: null, confidence: { order: 0.2 } } });
  });
});

describe('ai.classify: an answer that is no class', () => {
  it('is sent back once with its faults, and both answers are counted', async () => {
    const { result, asked } = await classify({}, [
      misfit('{"class":"orders"}', '/class must be one of the allowed values'),
      saysThat({ class: 'order' }),
    ]);
    expect(asked[1]?.messages).toEqual([
      { role: 'user', text: 'Where is my parcel?' },
      { role: 'assistant', text: '{"class":"orders"}', toolCalls: [] },
      { role: 'user', text: expect.stringContaining('- /class must be one of the allowed values') },
    ]);
    expect(result).toMatchObject({
      kind: 'success',
      handles: ['order'],
      consumedAiTokens: 150,
      output: { usage: { total_tokens: 110 } },
    });
  });

  it('fails the second time, without another attempt', async () => {
    const { result, asked } = await classify({}, [misfit('{}', '/class is missing'), misfit('I think so.')]);
    expect(asked).toHaveLength(2);
    expect(result).toMatchObject({
      kind: 'failure',
      code: 'ai_invalid_output',
      retryable: false,
      consumedAiTokens: 80,
    });
  });

  it('is not sent back when the budget is used up', async () => {
    const options = { aiTokensLeft: 40 };
    const { result, asked } = await classify({}, [misfit('{}', '/class is missing')], options);
    expect(asked).toHaveLength(1);
    expect(result).toMatchObject({
      kind: 'failure',
      code: 'token_budget_exceeded',
      consumedAiTokens: 40,
      message: saying('before the model could correct'),
    });
  });
});

describe('ai.classify: refused without a request', () => {
  it.each([
    [{ credential_id: 0 }, /config\.credential_id selects no credential/],
    [{ model: '../x' }, /config\.model/],
    [{ text: ' ' }, /config\.text is empty/],
    [{ classes: [] }, /config\.classes/],
    [{ classes: [{ name: 'a{', description: '' }] }, /config\.classes\.0\.name/],
    [{ classes: [CLASSES[0], CLASSES[0]] }, /The class name "order" is used twice/],
    [{ classes: [{ name: 'other', description: '' }] }, /The class name "other" is used twice or reserved/],
    [{ min_confidence: 2 }, /min_confidence/],
  ])('%j', async (config, message) => {
    expectRefused(await classify(config as JsonObject, []), message);
  });

  it('with nothing left of the budget', async () => {
    const { result, asked } = await classify({}, [], { aiTokensLeft: 0 });
    expect(result).toMatchObject({ code: 'token_budget_exceeded', consumedAiTokens: 0 });
    expect(asked).toEqual([]);
  });

  it('names that are taken are reported before a run', () => {
    const classes = [CLASSES[0], CLASSES[0], { name: 'error' }];
    const faults = aiClassify.findFaults?.({ classes } as JsonObject);
    expect(faults?.map(({ pointer }) => pointer)).toEqual(['/classes/1/name', '/classes/2/name']);
  });
});

it('ai.classify: in test mode, shows the request and takes `other`', async () => {
  expectShown(await classify({}, [], { isTestMode: true }), {
    handles: ['other'],
    output: { dry_run: true, request: { model: 'gpt-4.1-mini', output_schema: { type: 'object' } } },
  });
});
