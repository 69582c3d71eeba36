import { failure, type JsonObject } from '@millrace/engine';
import { message } from '@millrace/messages';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';

export const corePlaceholder = checkedNode({
  type: 'core.placeholder',
  title: 'Placeholder',
  description:
    'Stands for a node of another product that the import has no equivalent for, and shows the original settings. Replace it: a workflow with a placeholder cannot be activated, and a run fails when it reaches one.',
  icon: 'octagon-x',
  kind: 'pure',
  properties: {
    product: Type.String({
      title: 'Product',
      description: 'The product that the node comes from.',
      default: '',
    }),
    type: Type.String({
      title: 'Original type',
      description: 'The type that the node has there.',
      default: '',
    }),
    name: Type.String({
      title: 'Original name',
      description: 'The name that the node has there.',
      default: '',
    }),
    parameters: Type.Unsafe<JsonObject>({
      type: 'object',
      title: 'Original settings',
      description: 'The settings as they were. Secrets were removed.',
      default: {},
      'x-code': 'json',
    }),
  },
  form: { main: ['name', 'type', 'product', 'parameters'] },
  synonyms: ['import', 'n8n', 'dify', 'flowise', 'unknown'],
  findGaps: ({ name }) => [
    {
      pointer: '',
      code: 'placeholder',
      message: message('nodes.placeholder', { name: typeof name === 'string' ? name : '' }),
    },
  ],
  examples: [
    {
      title: 'A node without an equivalent',
      config: { product: 'n8n', type: 'n8n-nodes-base.ssh', name: 'Restart', parameters: { command: 'ls' } },
      expect: { failure: { code: 'placeholder' } },
    },
  ],
  run: ({ name }) => failure('placeholder', message('nodes.placeholder_reached', { name }), { fatal: true }),
});
