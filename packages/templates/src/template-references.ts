import { ExpressionParser, type OnPath } from './template-parser.ts';
import { countBackslashesBefore, NAME } from './template-scanner.ts';

/** Where a template names a node: the step after `nodes`, as `.fetch`, `['fetch']` or `["fetch"]`. */
export interface NodeReference {
  readonly nodeId: string;
  /** UTF-16 units from the start of the string, including the dot or the brackets. */
  readonly start: number;
  readonly end: number;
}

/**
 * Every position where the templates of a string name a node. Text outside of expressions is ignored, and so are names that merely contain
 * one. In an expression that can't be parsed, the paths before the mistake count; filters needn't be known, so that this part of the engine
 * doesn't depend on them.
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

/** The same string with other node ids in its templates; ids missing from the map stay. */
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

/** A name as it follows a path in a template: in brackets where a dot would be invalid or hard to read. */
export function templateStep(name: string | number): string {
  if (typeof name === 'number') return `[${name}]`;
  return /^[A-Za-z_][\w-]*$/.test(name) ? `.${name}` : quotedStep(name);
}

/** Whether a name can follow a dot. */
function isName(name: string): boolean {
  NAME.lastIndex = 0;
  return NAME.exec(name)?.[0] === name;
}

/** Escapes everything that strings of a template can escape; any other character is literal. */
function quotedStep(name: string, quote = '"'): string {
  const escaped = name.replace(/["'\\\n\t]/g, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    return character === quote || character === '\\' ? `\\${character}` : character;
  });
  return `[${quote}${escaped}${quote}]`;
}
