import {
  defineNode,
  failure,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  type NodeContext,
  type NodeDefinition,
  type NodeResult,
} from '@millrace/engine';
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { readPath, typeName } from './values.ts';

/** A node as its file writes it: `run` gets the config checked and with every default filled in. */
interface CheckedNode<Properties extends TProperties> extends Omit<NodeDefinition, 'configSchema' | 'run'> {
  /** Every property has title, description and default; those not in `required` may be left out. */
  readonly properties: Properties;
  readonly required?: readonly (keyof Properties & string)[];
  readonly run: (
    config: Static<TObject<Properties>>,
    context: NodeContext,
  ) => NodeResult | Promise<NodeResult>;
}

/**
 * Makes the catalogue's definition of a node. Before each run the rendered config is completed (an optional property that
 * is absent takes its default) and checked; a config that does not fit is the failure `invalid_config`.
 */
export function checkedNode<Properties extends TProperties>(node: CheckedNode<Properties>): NodeDefinition {
  const { properties, required = [], run, ...rest } = node;
  const configSchema: JsonSchema = {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required: [...required] }),
    additionalProperties: false,
  };
  const validator = Compile(Type.Unsafe<Static<TObject<Properties>>>(configSchema));
  const defaults = Object.entries(properties)
    .filter(([name]) => !required.includes(name))
    .map(([name, schema]): [string, JsonValue] => [
      name,
      (schema as { default?: JsonValue }).default ?? null,
    ]);
  return defineNode<JsonObject>({
    ...rest,
    configSchema,
    run(context) {
      const config: unknown = withDefaults(context.config, defaults);
      if (validator.Check(config)) return run(config, context);
      const problem = describeProblem(validator.Errors(config), context.config);
      return failure('invalid_config', `The settings of this node do not fit: ${problem}`);
    },
  });
}

function withDefaults(config: JsonObject, defaults: readonly [string, JsonValue][]): JsonObject {
  const missing = defaults.filter(([name]) => !Object.hasOwn(config, name));
  return { ...config, ...Object.fromEntries(missing) };
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

/** Says where the config is wrong and how. Values are not repeated: they may be secrets. */
function describeProblem(errors: readonly SchemaError[], config: JsonObject): string {
  // A union reports every member that did not fit; the union's own error is the one that helps.
  const error =
    errors.find(({ keyword }) => keyword === 'anyOf') ??
    errors.find(({ keyword }) => keyword !== 'boolean') ??
    errors[0];
  if (error === undefined) return 'the schema refuses them.';
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  const where = path === '' ? 'config' : `config.${path}`;
  const got = error.keyword === 'type' ? `, but is ${typeName(readPath(config, path))}` : '';
  return `${where} ${error.message}${detailOf(error)}${got}.`;
}

function detailOf({ keyword, params }: SchemaError): string {
  if (keyword === 'enum' && 'allowedValues' in params) return ` (${String(params.allowedValues)})`;
  if (keyword === 'additionalProperties' && 'additionalProperties' in params) {
    return ` (${String(params.additionalProperties)})`;
  }
  return '';
}
