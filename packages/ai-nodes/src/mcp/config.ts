import {
  type ConfigFault,
  HTTP_CREDENTIAL_TYPES,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NodeContext,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { validatorOf } from '@millrace/node-kit/validator';
import { type Static, Type } from 'typebox';
import { approvalOfTool, conditionFault, renderAround } from '../agent/approval-config.ts';

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
      ...approvalOfTool,
      approval_tools: Type.Optional(
        Type.Array(
          Type.String({
            title: 'Tool',
            description: 'The name of a tool as the server gives it.',
            default: '',
          }),
          {
            title: 'Approval for',
            description: 'The tools that the approval applies to. Empty: all of the server.',
            maxItems: MAX_ALLOWED,
            default: [],
            'x-when': { approval: ['always', 'when'] },
          },
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

const validator = validatorOf(Type.Object({ servers: serversProperty }));

/**
 * Prepares the servers of an unrendered config; conditions of approvals are rendered with the arguments of each call.
 * @returns why, when they can't be used
 */
export function readServers(value: JsonValue, render: NodeContext['render']): readonly McpServer[] | Message {
  const servers: unknown = isJsonArray(value) ? value.map((server) => renderAround(server, render)) : value;
  const given: unknown = { servers };
  if (!validator().Check(given)) {
    const [error] = validator().Errors(given);
    const path = `config.mcp_${(error?.instancePath ?? '/servers').slice(1).replaceAll('/', '.')}`;
    return message('nodes.wrong_server', { path });
  }
  return given.servers;
}

/** Faults of servers that match their schema. */
export function findServerFaults({ mcp_servers: servers }: JsonObject): readonly ConfigFault[] {
  if (!isJsonArray(servers ?? null)) return [];
  return (servers as readonly JsonValue[]).flatMap((server, index) => {
    const fault = isJsonObject(server) ? conditionFault(server) : null;
    return fault === null ? [] : [{ pointer: `/mcp_servers/${index}/approval_when`, message: fault }];
  });
}
