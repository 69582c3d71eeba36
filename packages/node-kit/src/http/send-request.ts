import { failure, isJsonObject, type JsonObject, type JsonValue, type NodeContext } from '@millrace/engine';
import { message } from '@millrace/messages';
import { Type } from 'typebox';
import { typeName } from '../values.ts';
import { httpForm, httpProperties } from './config.ts';

/** Excludes GET, which would be sent in test mode, and HEAD, which can't have a body. */
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * A setting that contains the settings of an HTTP request.
 * @param byDefault null when the request is optional
 */
export function requestProperty(description: string, byDefault: JsonObject | null) {
  const request = Type.Object(
    {
      ...httpProperties,
      method: Type.Unsafe<(typeof METHODS)[number]>({
        type: 'string',
        enum: METHODS,
        title: 'Method',
        description: 'How the request is sent.',
        default: 'POST',
      }),
    },
    { required: ['url'], additionalProperties: false, 'x-form': httpForm },
  );
  return Type.Unsafe<JsonValue>(
    Type.Union([request, Type.Null()], {
      title: 'Request',
      description,
      default: byDefault,
      ...(byDefault === null ? {} : { 'x-filled': true }),
    }),
  );
}

/** Renders the settings of a request and sends it like the node http.request; in test mode it is only described. */
export async function sendRequest(
  context: NodeContext,
  template: JsonValue,
  args: JsonObject,
  callKey = 'request',
): ReturnType<NodeContext['tools']['run']> {
  const setting = 'request';
  const rendered = context.render(template, args);
  if (!isJsonObject(rendered)) {
    return failure('invalid_config', message('nodes.not_a_request', { setting, given: typeName(rendered) }));
  }
  const config: JsonObject = { method: 'POST', ...rendered };
  if (typeof config.method === 'string' && !METHODS.some((method) => method === config.method)) {
    return failure('invalid_config', message('nodes.wrong_method', { setting, methods: METHODS.join(', ') }));
  }
  return context.tools.run({ type: 'http.request', config, callKey });
}
