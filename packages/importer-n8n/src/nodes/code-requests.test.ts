import { expect, it } from 'vitest';
import { flowOf, n8n, outcomeOf, read, START } from '../testing.ts';

const importCode = (jsCode: string) =>
  read(
    n8n({ Start: START, Code: { type: 'code', version: 2, parameters: { jsCode } } }, [['Start', 'Code']]),
  );

it('code that sends requests with a credential is in a loop whose requests have it', () => {
  const result = importCode(
    "return [{ json: await this.helpers.httpRequestWithAuthentication.call(this, 'gitHubApi', { url: 'https://a.example.com' }) }];",
  );
  const { nodes } = flowOf(result);
  const loop = nodes.find(({ type }) => type === 'core.repeat');
  const request = nodes.find(({ type }) => type === 'http.request');
  expect(request).toMatchObject({
    parentId: loop?.id,
    data: { config: { auth: { type: 'credential' } }, on_error: 'continue' },
  });
  expect(outcomeOf(result, 'Code')).toMatchObject({ kind: 'approximated' });
});

it("code isn't imported whose requests can't be told apart, or sent", () => {
  const send = "await this.helpers.httpRequest({ url: 'https://a.example.com' });";
  for (const code of [
    `${send}\nawait this.helpers.httpRequestWithAuthentication.call(this, 'a', {});\nreturn [];`,
    `const form = new FormData();\n${send}\nreturn [];`,
    `${send}\n$getWorkflowStaticData('global').a = 1;\nreturn [];`,
    `${send}\nreturn [{ json: {}, binary: { data: await this.helpers.prepareBinaryData('a') } }];`,
  ])
    expect(outcomeOf(importCode(code), 'Code')).toMatchObject({ kind: 'dropped' });
});
