import { HTTP_CREDENTIAL_TYPES } from '@millrace/engine';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { type Static, Type } from 'typebox';

const MAX_SERVERS = 8;
const MAX_ALLOWED = 64;

export const serversProperty = Type.Array(
  Type.Object(
    {
      name: Type.String({
        title: 'Name',
        description:
          'Its tools get this and an underscore before their names: letters, digits and _, at most 20.',
        pattern: '^[A-Za-z][A-Za-z0-9_]{0,19}$',
        default: 'mcp',
      }),
      url: Type.String({
        title: 'URL',
        description: 'Of the server, with the path for Streamable HTTP, such as https://mcp.example.com/mcp.',
        default: '',
        'x-filled': true,
        'x-url': true,
      }),
      tools: Type.Array(
        Type.String({
          title: 'Tool',
          description: 'The name of a tool as the server gives it.',
          default: '',
        }),
        {
          title: 'Tools',
          description: 'The tools that the model may call. What is not named here, it never sees.',
          minItems: 1,
          maxItems: MAX_ALLOWED,
          default: ['search'],
          'x-filled': true,
        },
      ),
      credential_id: Type.Optional(
        credentialProperty(
          HTTP_CREDENTIAL_TYPES,
          'Credential',
          'Sent with each request to this server.',
          'optional',
        ),
      ),
    },
    { title: 'Server', additionalProperties: false },
  ),
  {
    title: 'MCP servers',
    description: 'Servers of the Model Context Protocol, whose tools the model can call as well.',
    maxItems: MAX_SERVERS,
    default: [],
  },
);

export type McpServer = Static<typeof serversProperty>[number];
