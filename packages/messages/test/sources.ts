import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const PACKAGES = fileURLToPath(new URL('../../', import.meta.url));

/** One call of `message()`. */
export interface Use {
  /** File and line. */
  readonly at: string;
  /** One key, or those of a choice between literals; empty when the key isn't a literal. */
  readonly keys: readonly string[];
  /** Names of the parameters; null when they aren't an object literal. */
  readonly params: readonly string[] | null;
}

/** Every call of `message()` in the product's sources. */
export function listUses(): readonly Use[] {
  const files = globSync('*/src/**/*.{ts,tsx}', { cwd: PACKAGES }).filter(
    (file) => !/^testing\/|\.test\.tsx?$|\/testing(-[a-z-]+)?\.ts$|^messages\/src\/message\.ts$/.test(file),
  );
  return files.toSorted().flatMap((file) => {
    const code = readFileSync(`${PACKAGES}${file}`, 'utf8');
    return code.includes("'@millrace/messages'") ? usesIn(file, code) : [];
  });
}

function usesIn(file: string, code: string): Use[] {
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true);
  const uses: Use[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'message') {
      const [key, params] = node.arguments;
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      uses.push({ at: `${file}:${line + 1}`, keys: keysOf(key), params: namesOf(params) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return uses;
}

function keysOf(node: ts.Expression | undefined): string[] {
  if (node === undefined) return [];
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isParenthesizedExpression(node)) return keysOf(node.expression);
  return ts.isConditionalExpression(node) ? [...keysOf(node.whenTrue), ...keysOf(node.whenFalse)] : [];
}

function namesOf(node: ts.Expression | undefined): string[] | null {
  if (node === undefined) return [];
  if (!ts.isObjectLiteralExpression(node)) return null;
  const names = node.properties.map((property) => {
    if (ts.isShorthandPropertyAssignment(property)) return property.name.text;
    const isNamed = ts.isPropertyAssignment(property) && ts.isIdentifier(property.name);
    return isNamed ? (property.name as ts.Identifier).text : null;
  });
  return names.every((name) => name !== null) ? names : null;
}
