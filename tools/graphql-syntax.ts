import {
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  parse,
  type SelectionNode,
  type TypeNode,
  type ValueNode,
} from 'graphql';

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

const KINDS: { readonly [kind in Kind]?: string } = {
  [Kind.OBJECT_TYPE_DEFINITION]: 'type',
  [Kind.INTERFACE_TYPE_DEFINITION]: 'interface',
  [Kind.INPUT_OBJECT_TYPE_DEFINITION]: 'input',
  [Kind.ENUM_TYPE_DEFINITION]: 'enum',
};

/** The types of a schema, by name. @throws GraphQLError if it can't be parsed */
export function parseGraphqlSchema(text: string): ReadonlyMap<string, GraphqlDefinition> {
  const found = new Map<string, GraphqlDefinition>();
  for (const definition of parse(text, { noLocation: true }).definitions) {
    const kind = KINDS[definition.kind];
    if (kind === undefined || !('name' in definition) || definition.name === undefined) continue;
    const choices = 'values' in definition ? (definition.values ?? []).map(({ name }) => name.value) : [];
    const fields = fieldsOf('fields' in definition ? definition.fields : undefined);
    found.set(definition.name.value, { kind, fields, choices });
  }
  return found;
}

/**
 * The first operation of a document.
 * @throws GraphQLError if it can't be parsed
 */
export function parseGraphqlOperation(text: string): GraphqlOperation {
  const { definitions } = parse(text, { noLocation: true });
  const operation = definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION);
  if (operation === undefined) throw new Error('The document has no operation.');
  return {
    kind: operation.operation,
    variables: new Map(
      (operation.variableDefinitions ?? []).map(({ variable, type }) => [variable.name.value, typeOf(type)]),
    ),
    selected: operation.selectionSet.selections.map(selectionOf),
  };
}

function fieldsOf(
  nodes: readonly (FieldDefinitionNode | InputValueDefinitionNode)[] = [],
): ReadonlyMap<string, GraphqlField> {
  return new Map(
    nodes.map((node) => [
      node.name.value,
      {
        type: typeOf(node.type),
        args: fieldsOf('arguments' in node ? node.arguments : undefined),
        hasDefault: 'defaultValue' in node && node.defaultValue !== undefined,
      },
    ]),
  );
}

function typeOf(node: TypeNode): GraphqlType {
  if (node.kind === Kind.NON_NULL_TYPE) return { ...typeOf(node.type), isRequired: true };
  if (node.kind === Kind.LIST_TYPE) return { name: typeOf(node.type).name, isList: true, isRequired: false };
  return { name: node.name.value, isList: false, isRequired: false };
}

/** Fragments aren't understood: no type has a member of their name. */
function selectionOf(node: SelectionNode): GraphqlSelection {
  if (node.kind !== Kind.FIELD) return { name: '...', alias: '...', args: new Map(), selected: [] };
  return {
    name: node.name.value,
    alias: (node.alias ?? node.name).value,
    args: new Map((node.arguments ?? []).map(({ name, value }) => [name.value, argumentOf(value)])),
    selected: (node.selectionSet?.selections ?? []).map(selectionOf),
  };
}

function argumentOf(node: ValueNode): GraphqlValue {
  switch (node.kind) {
    case Kind.VARIABLE:
      return { kind: 'variable', text: node.name.value };
    case Kind.INT:
    case Kind.FLOAT:
      return { kind: 'number', text: node.value };
    case Kind.STRING:
      return { kind: 'text', text: node.value };
    case Kind.ENUM:
      return { kind: 'name', text: node.value };
    case Kind.BOOLEAN:
      return { kind: 'name', text: String(node.value) };
    case Kind.NULL:
      return { kind: 'name', text: 'null' };
    default:
      return { kind: 'other', text: '' };
  }
}
