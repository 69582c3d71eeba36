/** The type of a value, such as `[String!]!`. */
export interface GraphqlType {
  readonly name: string;
  readonly isList: boolean;
  readonly isRequired: boolean;
}

/** A member of a type, with the arguments that it takes. */
export interface GraphqlField {
  readonly type: GraphqlType;
  readonly args: ReadonlyMap<string, GraphqlField>;
  readonly hasDefault: boolean;
}

export interface GraphqlDefinition {
  readonly kind: string;
  readonly fields: ReadonlyMap<string, GraphqlField>;
  /** Of an enum. */
  readonly choices: readonly string[];
}

/** What an argument is given: a variable, a choice, or the text of a literal. */
export interface GraphqlValue {
  readonly kind: 'variable' | 'name' | 'number' | 'text' | 'other';
  readonly text: string;
}

export interface GraphqlSelection {
  readonly name: string;
  /** What the response calls it. */
  readonly alias: string;
  readonly args: ReadonlyMap<string, GraphqlValue>;
  readonly selected: readonly GraphqlSelection[];
}

export interface GraphqlOperation {
  readonly kind: string;
  readonly variables: ReadonlyMap<string, GraphqlType>;
  readonly selected: readonly GraphqlSelection[];
}

/** The types of a schema, by name. */
export function parseGraphqlSchema(text: string): ReadonlyMap<string, GraphqlDefinition> {
  const tokens = new Tokens(text);
  const found = new Map<string, GraphqlDefinition>();
  while (!tokens.isEnd) {
    const kind = tokens.next();
    // Arguments of a directive may be called like what begins a definition.
    if (kind === '(') while (!tokens.isEnd && !tokens.take(')')) tokens.next();
    if (!['type', 'interface', 'input', 'enum'].includes(kind)) continue;
    const name = tokens.next();
    while (!tokens.isEnd && tokens.peek() !== '{') tokens.next();
    tokens.next();
    const fields = new Map<string, GraphqlField>();
    const choices: string[] = [];
    while (!tokens.isEnd && !tokens.take('}')) {
      const member = tokens.next();
      if (kind === 'enum') choices.push(member);
      else fields.set(member, fieldOf(tokens));
      skipDirectives(tokens);
    }
    found.set(name, { kind, fields, choices });
  }
  return found;
}

/** The first operation of a document; fragments aren't understood. */
export function parseGraphqlOperation(text: string): GraphqlOperation {
  const tokens = new Tokens(text);
  const kind = tokens.peek() === '{' ? 'query' : tokens.next();
  if (/^\w/.test(tokens.peek())) tokens.next();
  const variables = new Map<string, GraphqlType>();
  if (tokens.take('(')) {
    while (!tokens.isEnd && !tokens.take(')')) {
      const name = tokens.next().slice(1);
      tokens.next();
      variables.set(name, typeOf(tokens));
    }
  }
  return { kind, variables, selected: selectionOf(tokens) };
}

function fieldOf(tokens: Tokens): GraphqlField {
  const args = new Map<string, GraphqlField>();
  if (tokens.take('(')) {
    while (!tokens.isEnd && !tokens.take(')')) {
      const name = tokens.next();
      args.set(name, fieldOf(tokens));
      skipDirectives(tokens);
    }
  }
  tokens.next();
  const type = typeOf(tokens);
  const hasDefault = tokens.take('=');
  if (hasDefault) literalOf(tokens);
  return { type, args, hasDefault };
}

function typeOf(tokens: Tokens): GraphqlType {
  const isList = tokens.take('[');
  const name = tokens.next();
  tokens.take('!');
  if (isList) {
    tokens.take(']');
    return { name, isList, isRequired: tokens.take('!') };
  }
  return { name, isList, isRequired: tokens.before() === '!' };
}

function selectionOf(tokens: Tokens): GraphqlSelection[] {
  const selected: GraphqlSelection[] = [];
  if (!tokens.take('{')) return selected;
  while (!tokens.isEnd && !tokens.take('}')) {
    const alias = tokens.next();
    const name = tokens.take(':') ? tokens.next() : alias;
    const args = new Map<string, GraphqlValue>();
    if (tokens.take('(')) {
      while (!tokens.isEnd && !tokens.take(')')) {
        const argument = tokens.next();
        tokens.next();
        args.set(argument, literalOf(tokens));
      }
    }
    selected.push({ name, alias, args, selected: selectionOf(tokens) });
  }
  return selected;
}

const CLOSING: { readonly [opening: string]: string } = { '[': ']', '{': '}' };

function literalOf(tokens: Tokens): GraphqlValue {
  const text = tokens.next();
  const closing = CLOSING[text];
  if (closing !== undefined) {
    while (!tokens.isEnd && !tokens.take(closing)) literalOf(tokens);
    return { kind: 'other', text };
  }
  if (text.startsWith('$')) return { kind: 'variable', text: text.slice(1) };
  if (text.startsWith('"')) return { kind: 'text', text };
  return { kind: /^-?\d/.test(text) ? 'number' : 'name', text };
}

function skipDirectives(tokens: Tokens): void {
  while (tokens.peek().startsWith('@')) {
    tokens.next();
    if (!tokens.take('(')) continue;
    while (!tokens.isEnd && !tokens.take(')')) tokens.next();
  }
}

class Tokens {
  readonly #all: readonly string[];
  #at = 0;

  constructor(text: string) {
    const plain = text
      .replace(/"""[\s\S]*?"""/g, '')
      .replace(/^\s*"(?:[^"\\]|\\.)*"\s*$/gm, '')
      .replace(/#.*$/gm, '');
    this.#all = plain.match(/[$@]?[A-Za-z_]\w*|-?\d[\w.+-]*|"(?:[^"\\]|\\.)*"|\.\.\.|[^\s,]/g) ?? [];
  }

  get isEnd(): boolean {
    return this.#at >= this.#all.length;
  }

  peek(): string {
    return this.#all[this.#at] ?? '';
  }

  before(): string {
    return this.#all[this.#at - 1] ?? '';
  }

  next(): string {
    this.#at += 1;
    return this.before();
  }

  take(token: string): boolean {
    if (this.peek() !== token) return false;
    this.#at += 1;
    return true;
  }
}
