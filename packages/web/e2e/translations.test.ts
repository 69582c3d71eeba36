import { CREDENTIAL_GUIDES } from '@millrace/credentials/guides';
import type { JsonObject, JsonValue } from '@millrace/engine';
import { ja as messagesJa } from '@millrace/messages/ja';
import { listTemplates } from '@millrace/service/templates/catalogue';
import { ja } from '@millrace/ui/i18n/ja.ts';
import guidesJa from '@millrace/ui/i18n/service/ja/credential-guides.json';
import templatesJa from '@millrace/ui/i18n/service/ja/templates.json';
import titlesJa from '@millrace/ui/i18n/service/ja/titles.json';
import { serviceJa } from '@millrace/ui/i18n/service/ja.ts';
import { describe, expect, test } from 'vitest';
import { nodes } from '../../nodes/src/catalogue.ts';

/** Choice values that are names: the same in every language. */
const NAMES =
  /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|github|stripe|slack|standard_webhooks|discord|gitlab|hubspot|microsoft|paddle|sendgrid|square|telegram|twilio|zendesk|zoom|hmac|md5|sha\d+|hex|base64|base64url|json|html|[HRPE]S\d+|EdDSA)$/;
interface Text {
  /** The type and the pointer into its schema. */
  readonly at: string;
  readonly text: string;
}

/** Titles and descriptions of a schema with their pointers. */
function textsOf(part: JsonValue, at: string): Text[] {
  if (typeof part !== 'object' || part === null) return [];
  if (Array.isArray(part)) return part.flatMap((each: JsonValue, index) => textsOf(each, `${at}/${index}`));
  return Object.entries(part as JsonObject).flatMap(([name, value]) => {
    const here = `${at}/${name}`;
    if ((name === 'title' || name === 'description') && typeof value === 'string')
      return [{ at: here, text: value }];
    if (['const', 'enum', 'default', 'examples'].includes(name)) return [];
    if (name !== 'properties') return textsOf(value, here);
    return Object.entries(value as JsonObject).flatMap(([each, schema]) =>
      textsOf(schema, `${here}/${each}`),
    );
  });
}

function choicesOf(part: JsonValue): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const own = Array.isArray(part) ? [] : (((part as JsonObject).enum ?? []) as JsonValue[]);
  return [
    ...own.filter((value) => typeof value === 'string'),
    ...Object.entries(part).flatMap(([name, each]) =>
      name === 'default' ? [] : choicesOf(each as JsonValue),
    ),
  ];
}

const SCHEMAS = nodes.map(({ type, configSchema }) => ({ type, schema: configSchema as JsonObject }));
const NODE_TEXTS: readonly Text[] = nodes.flatMap(({ type, title, description, configSchema, examples }) => [
  { at: `${type}/title`, text: title },
  { at: `${type}/description`, text: description },
  ...examples.map((example) => ({ at: `${type} example`, text: example.title })),
  ...textsOf(configSchema as JsonObject, type),
]);

describe('the node catalogue has Japanese for', () => {
  test('every title, description and example', () => {
    const lost = NODE_TEXTS.filter(
      ({ at, text }) => !Object.hasOwn(serviceJa.nodes, text) && !Object.hasOwn(serviceJa.nodes, at),
    );
    expect(lost).toEqual([]);
  });

  test('every title in the file that the canvas loads, with what an empty one says of triggers, and nothing else', () => {
    const shown = nodes.flatMap(({ type, title, description }) => [
      { at: `${type}/title`, text: title },
      ...(type.startsWith('trigger.') ? [{ at: `${type}/description`, text: description }] : []),
    ]);
    const keys = new Set(shown.flatMap(({ at, text }) => [at, text]));
    expect(
      shown.filter(({ at, text }) => !Object.hasOwn(titlesJa, text) && !Object.hasOwn(titlesJa, at)),
    ).toEqual([]);
    expect(Object.keys(titlesJa).filter((key) => !keys.has(key))).toEqual([]);
  });

  test("every value of a choice that isn't a name", () => {
    const lost = SCHEMAS.flatMap(({ type, schema }) =>
      choicesOf(schema)
        .filter((value) => !NAMES.test(value))
        .filter((value) => ![value, `${type}/${value}`].some((key) => Object.hasOwn(serviceJa.choices, key)))
        .map((value) => `${type}: ${value}`),
    );
    expect([...new Set(lost)]).toEqual([]);
  });

  test('words to search each node by', () => {
    expect(Object.keys(serviceJa.synonyms).toSorted()).toEqual(nodes.map(({ type }) => type).toSorted());
  });

  test('and nothing else', () => {
    const texts = new Set(NODE_TEXTS.flatMap(({ at, text }) => [at, text]));
    const values = new Set([
      ...SCHEMAS.flatMap(({ type, schema }) =>
        choicesOf(schema).flatMap((value) => [value, `${type}/${value}`]),
      ),
      ...['string', 'integer', 'boolean', 'array', 'object', 'number'],
    ]);
    expect(Object.keys(serviceJa.nodes).filter((text) => !texts.has(text))).toEqual([]);
    expect(Object.keys(serviceJa.choices).filter((value) => !values.has(value))).toEqual([]);
  });
});

test('every text of the gallery has Japanese, and no translation is unused', async () => {
  const templates = await listTemplates();
  const texts = new Set(
    templates.flatMap(({ workflow, summary, setup, companions }) => [
      ...namesOf(workflow),
      summary,
      ...setup.flatMap((step) => [step.var, step.description]),
      ...companions.flatMap((companion) => namesOf(companion.workflow).slice(0, 1)),
    ]),
  );
  expect([...texts].filter((text) => !Object.hasOwn(templatesJa, text))).toEqual([]);
  expect(Object.keys(templatesJa).filter((text) => !texts.has(text))).toEqual([]);
});

test('every guide to the values of credentials has Japanese, and no translation is unused', () => {
  const texts = new Set(CREDENTIAL_GUIDES.map(({ text }) => text));
  expect(new Set(Object.keys(guidesJa))).toEqual(texts);
});

describe('Japanese is written consistently', () => {
  const texts = [
    ...leavesOf(ja, 'ja'),
    ...leavesOf(serviceJa, 'service'),
    ...leavesOf(templatesJa, 'templates'),
    ...leavesOf(guidesJa, 'guides'),
    ...leavesOf(messagesJa, 'messages'),
  ];

  test('with full-width punctuation, and a space between Japanese and Latin', () => {
    const JAPANESE = '[\\u3040-\\u309f\\u30a1-\\u30fa\\u30fc-\\u30ff\\u4e00-\\u9fff]';
    const faults: readonly (readonly [RegExp, string])[] = [
      [new RegExp(`${JAPANESE}[?!,]|${JAPANESE} ?[(]|[)] ?${JAPANESE}`), 'a half-width sign'],
      [new RegExp(`${JAPANESE}[A-Za-z0-9]|[A-Za-z0-9]${JAPANESE}`), 'no blank'],
      [/[、。」）？！] | [、。」）？！]/, 'a blank beside a sign'],
    ];
    const found = texts.flatMap(({ at, text }) =>
      faults
        .filter(([fault]) => fault.test(text.replace(/\{\{[^}]+\}\}/g, '〓')))
        .map(([, what]) => `${what}: ${at}: ${text}`),
    );
    expect(found).toEqual([]);
  });
});

/** Name and description of a workflow file. */
function namesOf(workflow: JsonValue): string[] {
  const { name, description } = workflow as JsonObject;
  return [name, description].filter((text) => typeof text === 'string');
}

function leavesOf(value: unknown, at: string): Text[] {
  if (typeof value === 'string') return [{ at, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => leavesOf(each, `${at}.${name}`));
}
