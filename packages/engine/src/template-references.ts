import { countBackslashesBefore, ExpressionParser, NAME, type OnPath } from './template-expression.ts';

/** Where a template names a node: the step after `nodes`, as `.fetch`, `['fetch']` or `["fetch"]`. */
export interface NodeReference {
  readonly nodeId: string;
  /** UTF-16 units from the start of the text, the dot or the brackets included. */
  readonly start: number;
  readonly end: number;
}

/**
 * Every place where the templates of a text name a node. Text outside of expressions is left out, and so are names that
 * merely contain one. Of an expression that cannot be parsed, the paths before the mistake count; filters need not be known,
 * so that this part of the engine does without them.
 */
export function listNodeReferences(text: string): readonly NodeReference[] {
  const references: NodeReference[] = [];
  const onPath: OnPath = ([root, nodeId], step) => {
    if (root === 'nodes' && nodeId !== undefined && step !== null) references.push({ nodeId, ...step });
  };
  let from = 0;
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', from)) {
    const isLiteral = countBackslashesBefore(text, open, from) % 2 === 1;
    const parsed = isLiteral ? null : new ExpressionParser(text, open, { onPath }).parse();
    from = parsed === null || 'error' in parsed ? open + 2 : parsed.end;
  }
  return references;
}

/** The same text with other node ids in its templates; ids that the map does not have stay. */
export function renameNodeReferences(text: string, names: ReadonlyMap<string, string>): string {
  let renamed = '';
  let from = 0;
  for (const { nodeId, start, end } of listNodeReferences(text)) {
    const fresh = names.get(nodeId);
    if (fresh === undefined || fresh === nodeId) continue;
    const [, quote] = /^\[\s*(["'])/.exec(text.slice(start, end)) ?? [];
    const step = quote === undefined && isName(fresh) ? `.${fresh}` : quotedStep(fresh, quote);
    renamed += text.slice(from, start) + step;
    from = end;
  }
  return renamed + text.slice(from);
}

/** A name as it follows a path in a template: in brackets where a dot would not do, or would be hard to read. */
export function templateStep(name: string | number): string {
  if (typeof name === 'number') return `[${name}]`;
  return /^[A-Za-z_][\w-]*$/.test(name) ? `.${name}` : quotedStep(name);
}

/** Whether a name can follow a dot. */
function isName(name: string): boolean {
  NAME.lastIndex = 0;
  return NAME.exec(name)?.[0] === name;
}

/** All that strings of a template know to escape is escaped; any other character stands for itself. */
function quotedStep(name: string, quote = '"'): string {
  const escaped = name.replace(/["'\\\n\t]/g, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    return character === quote || character === '\\' ? `\\${character}` : character;
  });
  return `[${quote}${escaped}${quote}]`;
}
