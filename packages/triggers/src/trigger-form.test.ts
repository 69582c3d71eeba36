import type { JsonObject, JsonValue } from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, test } from 'vitest';
import { completeFields, pagesOf } from './form/fields.ts';
import { findFormFaults, readFormOptions } from './form/options.ts';
import { readFields } from './form/read-fields.ts';
import { triggerForm } from './trigger-form.ts';

type Given = Parameters<typeof completeFields>[0][number];

const field = (more: Partial<Given>): Given => ({ label: 'Field', name: 'a', type: 'text', ...more });
const faultsOf = (config: JsonObject) =>
  findFormFaults({ title: 'Form', ...config }).map(({ pointer }) => pointer);

test('passes the values on', async () => {
  const { result } = await runNode(triggerForm, {
    config: { title: 'Form', fields: [field({})] },
    trigger: { a: 'x' },
  });
  expect(result).toMatchObject({ kind: 'success', output: { data: { a: 'x' } } });
});

describe('faults', () => {
  test.each<[string, readonly Given[], readonly string[]]>([
    ['none', [field({}), field({ name: 'Your name' })], []],
    ['the same name twice', [field({}), field({})], ['/fields/1/name']],
    ['no name', [field({ name: '' })], ['/fields/0/name']],
    ['a name of the form itself', [field({ name: '_page' })], ['/fields/0/name']],
    ['a name that no template can read', [field({ name: 'a}}' })], ['/fields/0/name']],
    ['no label', [field({ label: ' ' })], ['/fields/0/label']],
    ['a hidden value needs no label', [field({ label: '', type: 'hidden' })], []],
    ['no choices', [field({ type: 'choice' })], ['/fields/0/choices']],
    ['only a page', [field({ type: 'page', name: '' })], ['/fields']],
    [
      'a file before the last page',
      [field({ type: 'file' }), field({ type: 'page', name: '' }), field({ name: 'b' })],
      ['/fields/0/type'],
    ],
    ['a template', [field({ label: '{{trigger.data.x}}' })], ['/fields/0/label']],
  ])('%s', (_name, fields, expected) => {
    expect(faultsOf({ fields: fields.map((each) => ({ ...each })) })).toEqual(expected);
  });

  test.each([
    ['https://example.com/', []],
    ['http://example.com/', ['/redirect_url']],
    ['javascript:alert(1)', ['/redirect_url']],
  ])('a page afterwards at %s', (url, expected) => {
    expect(faultsOf({ fields: [{ ...field({}) }], redirect_url: url })).toEqual(expected);
  });

  test.each([
    ['https://shop.example.com', true],
    ['https://shop.example.com/page', false],
    ["https://a.example 'self'", false],
    ['*', false],
  ])('the website %s: %s', (origin, isFine) => {
    const config = { title: 'Form', fields: [{ ...field({}) }], allowed_origins: [origin] };
    expect(faultsOf(config)).toEqual(isFine ? [] : ['/allowed_origins/0']);
    expect(readFormOptions(config, null) !== null).toBe(isFine);
  });
});

describe('what is submitted', () => {
  const readOne = (more: Partial<Given>, given: JsonValue) => {
    const { values, faults } = readFields(completeFields([field(more)]), { a: given });
    return faults.length > 0 ? faults.map(({ message }) => inEnglish(message)).join() : values.a;
  };

  test.each<[Partial<Given>, JsonValue, JsonValue]>([
    [{}, 'x\r\ny', 'x\ny'],
    [{}, '  ', null],
    [{ required: true }, ' ', 'Fill in this field.'],
    [{}, ['x', 'y'], 'Enter a single value.'],
    [{}, 'x'.repeat(10_001), 'Enter at most 10000 characters.'],
    [{ type: 'number' }, '+007', 7],
    [{ type: 'number' }, '-0.5', -0.5],
    [{ type: 'number' }, '1e5', 'Enter a number, such as 12 or 3.5.'],
    [{ type: 'number' }, '9'.repeat(101), 'Enter a number, such as 12 or 3.5.'],
    [{ type: 'email' }, ' ada@example.com ', 'ada@example.com'],
    [{ type: 'email' }, 'ada@example', 'Enter an e-mail address, such as name@example.com.'],
    [{ type: 'email' }, 'a b@example.com', 'Enter an e-mail address, such as name@example.com.'],
    [{ type: 'date' }, '2028-02-29', '2028-02-29'],
    [{ type: 'date' }, '2027-02-29', 'Enter a date as YYYY-MM-DD.'],
    [{ type: 'choice', choices: ['x', 'y'] }, 'y', 'y'],
    [{ type: 'choice', choices: ['x', 'y'] }, 'z', 'Choose one of the options.'],
    [{ type: 'choices', choices: ['x', 'y'] }, ['y', 'x', 'y'], ['x', 'y']],
    [{ type: 'choices', choices: ['x', 'y'] }, null, []],
    [{ type: 'choices', choices: ['x'], required: true }, null, 'Fill in this field.'],
    [{ type: 'checkbox' }, 'on', true],
    [{ type: 'checkbox' }, null, false],
    [{ type: 'checkbox', required: true }, null, 'Tick this box to continue.'],
    [{ type: 'file' }, 'no file', 'Choose a file.'],
    [{ type: 'file', multiple: true }, null, []],
  ])('%j: %j', (more, given, expected) => {
    expect(readOne(more, given)).toEqual(expected);
  });

  test('names of members that objects inherit are names like any other', () => {
    const fields = completeFields([field({ name: 'constructor' })]);
    expect(readFields(fields, {}).values).toEqual({ constructor: null });
  });
});

test('a form has a page until the next one begins; empty ones are left out', () => {
  const page = (label: string): Given => field({ type: 'page', name: '', label });
  const pages = pagesOf(
    completeFields([page('One'), field({}), page('Two'), page('Three'), field({ name: 'b' })]),
  );
  expect(pages.map(({ heading, fields }) => [heading, fields.map(({ name }) => name)])).toEqual([
    ['One', ['a']],
    ['Three', ['b']],
  ]);
});
