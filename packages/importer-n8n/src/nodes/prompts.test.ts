import { expect, it } from 'vitest';
import { configOf, n8n, outcomeOf, read, START } from '../testing.ts';

/** A question about a picture, which is the response to a request. */
function asked(picture: { readonly [name: string]: string }) {
  return read(
    n8n(
      {
        Start: START,
        Picture: {
          type: 'httpRequest',
          version: 4.2,
          parameters: {
            url: 'https://own.example.com/picture',
            options: { response: { response: { responseFormat: 'file' } } },
          },
        },
        Ask: {
          type: '@n8n/n8n-nodes-langchain.chainLlm',
          version: 1.5,
          parameters: {
            promptType: 'define',
            text: 'What is it?',
            messages: { messageValues: [{ type: 'HumanMessagePromptTemplate', ...picture }] },
          },
        },
        Model: { type: '@n8n/n8n-nodes-langchain.lmChatOpenAi', parameters: { model: 'gpt-4.1-mini' } },
      },
      [
        ['Start', 'Picture'],
        ['Picture', 'Ask'],
        ['Model', 'Ask', 'ai_languageModel'],
      ],
    ),
  );
}

it('a model sees the image that a message is', () => {
  const result = asked({ messageType: 'imageBinary' });
  expect(configOf(result, 'Ask')).toMatchObject({
    prompt: 'What is it?',
    files: ['{{nodes.picture.output.body}}'],
  });
});

it.each([
  { messageType: 'imageBinary', binaryImageDataKey: 'other' },
  { messageType: 'imageUrl', imageUrl: 'https://own.example.com/b' },
])('an image that is no file of the item is reported: %o', (picture) => {
  const result = asked(picture);
  expect(configOf(result, 'Ask')).not.toHaveProperty('files');
  const what = expect.arrayContaining([expect.objectContaining({ key: 'import.no_images' })]);
  expect(outcomeOf(result, 'Ask')).toMatchObject({ what });
});

it.each([
  ['chainLlm', 1, 'input'],
  ['chainLlm', 1.2, 'chat_input'],
  ['chainLlm', 1.3, 'chatInput'],
  ['agent', 1.1, 'chat_input'],
  ['agent', 1.7, 'chatInput'],
])('%s %f asks what the item has under the name that its version reads', (kind, version, member) => {
  const result = read(
    n8n(
      {
        Start: START,
        Given: { type: 'set', version: 2, parameters: { values: { string: [{ name: 'a', value: 'b' }] } } },
        Ask: { type: `@n8n/n8n-nodes-langchain.${kind}`, version },
        Model: { type: '@n8n/n8n-nodes-langchain.lmChatOpenAi' },
      },
      [
        ['Start', 'Given'],
        ['Given', 'Ask'],
        ['Model', 'Ask', 'ai_languageModel'],
      ],
    ),
  );
  expect(configOf(result, 'Ask')).toMatchObject({ prompt: `{{nodes.given.output.${member}}}` });
});
