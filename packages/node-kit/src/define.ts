import {
  defineNode,
  describeKeyword,
  type SchemaError as EngineSchemaError,
  type Failure,
  failure,
  isWork,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  type ListeningDefinition,
  type ListenSource,
  type LoopDefinition,
  type NodeContext,
  type NodeDefinition,
  type NodeResult,
  type NodeSignal,
  type PollContext,
  type PolledItem,
  type PollingDefinition,
  type PollResult,
  REQUIRED,
  readField,
  ServiceError,
  UNKNOWN_FIELD,
  validateValue,
  type Work,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { serviceFailure } from './service-failure.ts';
import { validatorOf } from './validator.ts';
import { typeName } from './values.ts';

/** What a node's functions return: its result, or a promise of it, or the work that leads to it. */
type Running = NodeResult | Promise<NodeResult> | Work<NodeResult>;

/**
 * What a node's form shows: its main fields in this order, always visible, and the rest in sections that can be closed. Each property is in
 * exactly one place.
 */
export interface FormLayout<Name extends string = string> {
  readonly main: readonly Name[];
  readonly sections?: readonly { readonly title: string; readonly fields: readonly Name[] }[];
}

/** A node as its file defines it: its functions get the validated config with all defaults filled in. */
interface CheckedNode<Properties extends TProperties>
  extends Omit<
    NodeDefinition,
    'configSchema' | 'run' | 'resume' | 'loop' | 'polling' | 'listening' | 'synonyms'
  > {
  /** Every property has title, description and default; those not in `required` are optional. */
  readonly properties: Properties;
  readonly form: FormLayout<keyof Properties & string>;
  readonly synonyms: readonly string[];
  readonly required?: readonly (keyof Properties & string)[];
  /** Its schema was written by users: it is interpreted within bounds, never compiled to code. */
  readonly isInterpreted?: boolean;
  /**
   * Deferred members contain their templates and aren't checked; render them first.
   * @throws NodeProblem, ServiceError, HttpClientError, which become failures
   */
  readonly run: (config: Static<TObject<Properties>>, context: NodeContext) => Running;
  /** See `NodeDefinition.resume`. */
  readonly resume?: (
    config: Static<TObject<Properties>>,
    context: NodeContext,
    signal: NodeSignal,
    waiting: JsonObject,
  ) => Running;
  readonly loop?: {
    readonly begin: (config: Static<TObject<Properties>>) => ReturnType<LoopDefinition['begin']>;
    readonly isDone?: (config: Static<TObject<Properties>>) => Work<boolean>;
  };
  /** See `PollingDefinition`; may throw what `run` may. */
  readonly polling?: {
    readonly poll: (config: Static<TObject<Properties>>, context: PollContext) => Promise<PollResult>;
    readonly complete?: (
      config: Static<TObject<Properties>>,
      context: PollContext,
      items: readonly PolledItem[],
    ) => Promise<readonly PolledItem[] | Failure>;
    readonly acknowledge?: (
      config: Static<TObject<Properties>>,
      context: PollContext,
      ids: readonly string[],
    ) => Promise<Failure | null>;
  };
  /** See `ListeningDefinition`. */
  readonly listening?: {
    readonly place: readonly (keyof Properties & string)[];
    readonly source: (config: Static<TObject<Properties>>) => ListenSource;
  };
}

/**
 * Creates the catalogue's definition of a node. Before each run, defaults are added to the rendered config, which is then checked; an
 * invalid config is the failure `invalid_config`.
 */
export function checkedNode<Properties extends TProperties>(node: CheckedNode<Properties>): NodeDefinition {
  type Config = Static<TObject<Properties>>;
  const {
    properties,
    required = [],
    form,
    run,
    resume,
    loop,
    polling,
    listening,
    isInterpreted,
    ...rest
  } = node;
  const configSchema: JsonSchema = {
    type: 'object',
    properties,
    ...(required.length === 0 ? {} : { required: [...required] }),
    additionalProperties: false,
    'x-form': form,
  };
  const anything = Object.keys(rest.deferred ?? {}).map((name): [string, JsonSchema] => [name, {}]);
  const checked = { ...configSchema, properties: { ...properties, ...Object.fromEntries(anything) } };
  const validator = validatorOf(Type.Unsafe<Config>(checked));
  const defaults = Object.entries(properties)
    .filter(([name]) => !required.includes(name))
    .map(([name, schema]): [string, JsonValue] => [
      name,
      (schema as { default?: JsonValue }).default ?? null,
    ]);
  const withConfig = <Result>(given: JsonObject, use: (config: Config) => Result): Result | Failure => {
    const config = withDefaults(given, defaults);
    if (isInterpreted === true) {
      const [error] = validateValue(checked, config);
      return error === undefined
        ? use(config as Config)
        : failure('invalid_config', describeInterpreted(error));
    }
    if (validator().Check(config)) return use(config as Config);
    const problem = describeProblem(validator().Errors(config), given);
    return failure('invalid_config', problem);
  };
  return defineNode<JsonObject>({
    ...rest,
    configSchema,
    run: (context) => outcomeOf(() => withConfig(context.config, (config) => run(config, context))),
    ...(resume === undefined
      ? {}
      : {
          resume: (context, signal, waiting) =>
            outcomeOf(() => withConfig(context.config, (config) => resume(config, context, signal, waiting))),
        }),
    ...(loop === undefined ? {} : { loop: checkedLoop(loop, withConfig) }),
    ...(polling === undefined ? {} : { polling: checkedPolling(polling, withConfig) }),
    ...(listening === undefined ? {} : { listening: checkedListening(listening, withConfig) }),
  });
}

function checkedPolling<Properties extends TProperties>(
  { poll, complete, acknowledge }: NonNullable<CheckedNode<Properties>['polling']>,
  withConfig: WithConfig<Properties>,
): PollingDefinition {
  const begin = async <Result>(
    context: PollContext,
    use: (config: Static<TObject<Properties>>) => Promise<Result>,
  ): Promise<Result | Failure> => withConfig(context.config, use);
  return {
    poll: (context) => begin(context, (config) => poll(config, context)).catch(serviceFailure),
    ...(complete === undefined
      ? {}
      : {
          complete: (context, items) =>
            begin(context, (config) => complete(config, context, items)).catch(serviceFailure),
        }),
    ...(acknowledge === undefined
      ? {}
      : {
          acknowledge: (context, ids) =>
            begin(context, (config) => acknowledge(config, context, ids)).catch(serviceFailure),
        }),
  };
}

function checkedListening<Properties extends TProperties>(
  { place, source }: NonNullable<CheckedNode<Properties>['listening']>,
  withConfig: WithConfig<Properties>,
): ListeningDefinition {
  return {
    place,
    source(given) {
      const found = withConfig(given, source);
      if (found.kind === 'failure') throw new ServiceError(found.code, found.message);
      return found;
    },
  };
}

/** Turns what a node may throw into its failure. */
function outcomeOf(begin: () => Running): Running {
  try {
    const running = begin();
    if (isWork(running)) return outcomeOfWork(running);
    return running instanceof Promise ? running.catch(serviceFailure) : running;
  } catch (error) {
    return serviceFailure(error);
  }
}

function* outcomeOfWork(work: Work<NodeResult>): Work<NodeResult> {
  try {
    return yield* work;
  } catch (error) {
    return serviceFailure(error);
  }
}

/** Checks a config before it is used. */
type WithConfig<Properties extends TProperties> = <Result>(
  given: JsonObject,
  use: (config: Static<TObject<Properties>>) => Result,
) => Result | Failure;

function checkedLoop<Properties extends TProperties>(
  loop: NonNullable<CheckedNode<Properties>['loop']>,
  withConfig: WithConfig<Properties>,
): LoopDefinition {
  const { begin, isDone } = loop;
  return {
    begin: (config) => withConfig(config, begin),
    // Invalid members were refused before: the engine checks the whole config when it has rendered the rest of it.
    ...(isDone === undefined
      ? {}
      : {
          isDone: (config) => {
            const found = withConfig(config, isDone);
            return 'next' in found ? found : false;
          },
        }),
  };
}

function withDefaults(config: JsonObject, defaults: readonly [string, JsonValue][]): JsonObject {
  const missing = defaults.filter(([name]) => !Object.hasOwn(config, name));
  return { ...config, ...Object.fromEntries(missing) };
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: { readonly [name: string]: unknown };
}

/** Describes where the config is invalid and why. Values aren't repeated: they may be secrets. */
function describeProblem(errors: readonly SchemaError[], config: JsonObject): Message {
  // A union reports the errors of every member; the union's own error is the useful one.
  const error =
    errors.find(({ keyword }) => keyword === 'anyOf') ??
    errors.find(({ keyword }) => keyword !== 'boolean') ??
    errors[0];
  if (error === undefined) return message('nodes.unfit_settings');
  const inside = error.instancePath.slice(1).replaceAll('/', '.');
  const { path, fault } = placed(error, inside === '' ? 'config' : `config.${inside}`);
  return error.keyword === 'type'
    ? message('nodes.wrong_setting_type', { path, fault, given: typeName(readField(config, inside)) })
    : message('nodes.wrong_setting', { path, fault });
}

function describeInterpreted({ pointer, message: fault }: EngineSchemaError): Message {
  return message('nodes.wrong_setting', { path: `config${pointer.replaceAll('/', '.')}`, fault });
}

/** The fault with the path of the invalid member; for a missing or unknown member, the error's own path is that of the object. */
function placed(
  { keyword, params, message: otherwise }: SchemaError,
  path: string,
): { readonly path: string; readonly fault: Message } {
  const { requiredProperties, additionalProperties } = params;
  const [member] = [requiredProperties, additionalProperties].flatMap((names) => names ?? []);
  if (typeof member !== 'string')
    return { path, fault: describeKeyword(keyword, { ...params }, otherwise).message };
  const { message: fault } = keyword === 'required' ? REQUIRED : UNKNOWN_FIELD;
  return { path: `${path}.${member}`, fault };
}
