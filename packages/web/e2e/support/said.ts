import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const PACKAGES = fileURLToPath(new URL('../../../', import.meta.url));

/** What the service may say, as its code writes it; `{}` stands for what a sentence is filled with. */
export interface Said {
  readonly text: string;
  readonly file: string;
}

/** Names under which the code keeps what a person reads. */
const NAMES = /^(?:message|detail|fault|why|reason)$/;
/** What makes an error or a problem: its texts are read by people. */
const MAKERS =
  /^(?:ApiError|AccountError|unavailable|notFound|add|#add|#fail|#failAt|fail|fault|cannotRunAlone|check|failure)$/;
/** A sentence has a blank in it and begins small or large, but not with a sign. */
const SENTENCE = /^(?:[A-Za-z"[{]).* .*/s;

/** Every sentence that these files of `packages/` say to people. */
export function listSaid(patterns: readonly string[]): readonly Said[] {
  return readAll(patterns, sentencesIn);
}

/**
 * Every text of these files that could be a sentence for people: all but those that stand where nobody reads them. A new
 * one is found wherever it is made, so that it is translated or named as no sentence.
 */
export function listTellable(patterns: readonly string[]): readonly Said[] {
  return readAll(patterns, (source) => {
    const found: string[] = [];
    const visit = (node: ts.Node): void => {
      if (isUnread(node)) return;
      if (isText(node)) found.push(...textsOf(node).filter((text) => WORDS.test(text) && !SQL.test(text)));
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });
}

/** At least two words. */
const WORDS = /^[A-Za-z"'{[].*[a-z}] .*[a-z]/s;
const SQL =
  /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER|SET|BEGIN|VALUES|FROM|WHERE|ORDER|AND|JOIN|SHOW|START|ROLLBACK|COMMIT)\b/;
/** A defect, which nobody is told but the log. */
const DEFECTS = /^(?:Error|TypeError|RangeError|RegExp)$/;
const LOGS = /\blog\.\w+$/;
/** Words of schemas and examples, which have translations of their own. */
const SCHEMA_WORDS = /^(?:description|title|summary|examples?)$/;

/** What stands here is for programs, or has a test of its own. */
function isUnread(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isLiteralTypeNode(node)) return true;
  if (ts.isNewExpression(node)) return DEFECTS.test(node.expression.getText());
  if (ts.isCallExpression(node)) return LOGS.test(node.expression.getText());
  return ts.isPropertyAssignment(node) && SCHEMA_WORDS.test(node.name.getText());
}

function isText(node: ts.Node): boolean {
  return (
    ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)
  );
}

/** Every text that stands in these files, whoever it is for. */
export function listTexts(patterns: readonly string[]): readonly Said[] {
  return readAll(patterns, (source) => {
    const found: string[] = [];
    const visit = (node: ts.Node): void => {
      found.push(...textsOf(node));
      ts.forEachChild(node, visit);
    };
    visit(source);
    return [...found, ...sentencesIn(source)];
  });
}

function readAll(patterns: readonly string[], read: (source: ts.SourceFile) => string[]): readonly Said[] {
  return patterns
    .flatMap((pattern) => {
      const files = globSync(pattern, { cwd: PACKAGES });
      // A folder that was moved would else be looked for in vain, and nothing of it be missed.
      if (files.length === 0) throw new Error(`no file of packages/ fits ${pattern}`);
      return files;
    })
    .filter((file, index, all) => all.indexOf(file) === index)
    .filter((file) => !/(?:\.test|\/testing[\w-]*|\/test-[\w-]*)\.ts$/.test(file))
    .flatMap((file) => {
      const code = readFileSync(`${PACKAGES}${file}`, 'utf8');
      const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true);
      return read(source).map((text) => ({ text, file }));
    });
}

function sentencesIn(source: ts.SourceFile): string[] {
  const found: string[] = [];
  const take = (node: ts.Node | undefined): void => {
    for (const text of textsOf(node)) if (SENTENCE.test(text)) found.push(text);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && NAMES.test(node.name.getText())) take(node.initializer);
    if (ts.isVariableDeclaration(node) && NAMES.test(node.name.getText())) take(node.initializer);
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const callee = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
      if (MAKERS.test(callee.getText())) {
        // `notFound('workflow')` says the sentence of its own; the others say what they are given.
        if (callee.getText() === 'notFound') {
          for (const text of textsOf(node.arguments?.[0])) found.push(`There is no such ${text}.`);
        } else for (const argument of node.arguments ?? []) take(argument);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The text of a literal, a template with `{}` for what it is filled with, and both of a choice. */
function textsOf(node: ts.Node | undefined): string[] {
  if (node === undefined) return [];
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return [node.text];
  if (ts.isTemplateExpression(node)) {
    return [node.head.text + node.templateSpans.map(({ literal }) => `{}${literal.text}`).join('')];
  }
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue), ...textsOf(node.whenFalse)];
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression);
  return [];
}
