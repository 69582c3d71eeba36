import { parseTemplates } from '@millrace/templates/template';
import type { JsonObject } from '@millrace/values/json';
import { expect, it } from 'vitest';
import { findConfigProblems } from '../src/config-problems.ts';

/** Two kinds distinguished by a constant, like `auth` of http.request. */
const schema = {
  type: 'object',
  properties: {
    auth: {
      anyOf: [
        kind('none', {}),
        kind('bearer', { token: { type: 'string', minLength: 1 } }),
        kind('credential', { credential_id: { type: 'integer' } }),
      ],
    },
  },
};

function kind(type: string, properties: object) {
  const all = { type: { const: type }, ...properties };
  return { type: 'object', properties: all, required: Object.keys(all), additionalProperties: false };
}

function pointers(auth: JsonObject): string[] {
  const config = { auth };
  return findConfigProblems(schema, config, parseTemplates(config).template).map(({ pointer }) => pointer);
}

it('P4: a choice by a constant is not checked while a member of the chosen one is a template', () => {
  expect(pointers({ type: 'credential', credential_id: '{{vars.id}}' })).toEqual([]);
  expect(pointers({ type: 'bearer', token: 'x{{vars.token}}' })).toEqual([]);
  expect(pointers({ type: 'credential', credential_id: 'seven' })).not.toEqual([]);
  expect(pointers({ type: 'bearer' })).not.toEqual([]);
});
