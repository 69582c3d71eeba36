import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { fieldsOf, isSecretField, titleOfType } from '@millrace/credentials/schema';
import {
  CREDENTIAL_TYPES,
  type CredentialType,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '@millrace/engine';
import { choiceOrAsk, secretOrAsk, textOrAsk } from './ask.ts';
import { RefusedError, UsageError } from './shell.ts';
import { unreadable } from './unreadable.ts';

/** Sources of a credential's fields, as given on the command line. */
export interface FieldSources {
  /** `name=value` each. */
  readonly field?: readonly string[];
  /** `-`: standard input. */
  readonly fromFile?: string;
  /** A field read from standard input. */
  readonly stdin?: string;
  readonly json?: boolean;
}

/** @throws UsageError if nobody can be asked, or for an unknown type */
export async function readCredentialType(
  given: string | undefined,
  options: { readonly json?: boolean },
): Promise<CredentialType> {
  const text = await choiceOrAsk(
    given,
    '--type',
    'What type of credential is it?',
    CREDENTIAL_TYPES.map((value) => ({ value, label: titleOfType(value) })),
    options,
  );
  const type = CREDENTIAL_TYPES.find((each) => each === text);
  if (type !== undefined) return type;
  throw new UsageError(
    'unknown_type',
    `There is no type "${text}"; choose one of ${CREDENTIAL_TYPES.join(', ')}.`,
  );
}

/** The fields given by file, standard input and options; the last of these takes precedence. */
export async function readGivenFields(type: CredentialType, sources: FieldSources): Promise<JsonObject> {
  if (sources.stdin !== undefined && sources.fromFile === '-') {
    throw new UsageError('stdin_twice', '--stdin and --from-file - cannot both read standard input.');
  }
  const fromFile = sources.fromFile === undefined ? {} : await readFieldsFile(sources.fromFile);
  const fromStdin =
    sources.stdin === undefined
      ? {}
      : { [sources.stdin]: readValue(type, sources.stdin, await readSecretText()) };
  const fromOptions = (sources.field ?? []).map((text) => readFieldOption(type, text));
  return { ...fromFile, ...fromStdin, ...Object.fromEntries(fromOptions) };
}

/** Asks at the terminal for missing fields of a new credential; adds nothing in a script. */
export async function askForMissing(
  type: CredentialType,
  given: JsonObject,
  options: { readonly json?: boolean },
): Promise<JsonObject> {
  const answers: [string, JsonValue][] = [];
  for (const [name, schema] of fieldsOf(type)) {
    const isSecret = isSecretField([name, schema]);
    // Fields with a default aren't asked for, except secrets: a server's password is hardly ever empty.
    if (Object.hasOwn(given, name) || (schema.default !== undefined && !isSecret)) continue;
    const title = schema.title ?? name;
    const answer = isSecret
      ? await secretOrAsk(schema.default === undefined ? `--stdin ${name}` : null, title, options)
      : await textOrAsk(undefined, `--field ${name}=...`, `${title}?`, options);
    if (answer !== undefined) answers.push([name, readValue(type, name, answer)]);
  }
  return { ...given, ...Object.fromEntries(answers) };
}

async function readFieldsFile(path: string): Promise<JsonObject> {
  let value: JsonValue;
  try {
    value = parseJson((await readText(path)).replace(/^\uFEFF/, ''));
  } catch (error) {
    // A JSON parser's error quotes some of the input.
    throw unreadable(error instanceof SyntaxError ? 'it is not JSON' : error, 'file of fields');
  }
  if (isJsonObject(value)) return value;
  throw new RefusedError(
    'file_unreadable',
    'The file of fields must contain one JSON object, such as {"token": "..."}.',
  );
}

function readText(path: string): Promise<string> {
  return path === '-' ? readAll(process.stdin) : readFile(path, 'utf8');
}

/** Without the trailing newline added by editors and `echo`. */
async function readSecretText(): Promise<string> {
  return (await readAll(process.stdin)).replace(/\r?\n$/, '');
}

function readFieldOption(type: CredentialType, text: string): [string, JsonValue] {
  const at = text.indexOf('=');
  if (at < 1)
    throw new UsageError('invalid_field', '--field takes name=value, such as --field host=smtp.example.com.');
  const name = text.slice(0, at);
  if (fieldsOf(type).some((field) => field[0] === name && isSecretField(field))) {
    process.stderr.write(
      `warning: ${name} is a secret, but other users can see the command line and the shell keeps it in its history. Pass it with --stdin ${name} or --from-file instead.\n`,
    );
  }
  return [name, readValue(type, name, text.slice(at + 1))];
}

/** Text converted to the type in the field's schema: numbers to numbers, empty text to null if allowed. */
function readValue(type: CredentialType, name: string, text: string): JsonValue {
  const schema = fieldsOf(type).find(([each]) => each === name)?.[1];
  if (schema?.type === 'integer' && /^\d{1,15}$/.test(text)) return Number(text);
  return text === '' && schema?.default === null ? null : text;
}
