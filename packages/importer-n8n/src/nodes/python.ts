import { missingPackageIn } from '@millrace/importer-kit/python-packages';
import { literal } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import { type Step, Unmappable } from '../step.ts';

/** What n8n's Python finds: items whose fields are read as members or as attributes. */
const ITEMS = `class _Data(dict):
    __setattr__ = dict.__setitem__
    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

def _wrap(value):
    if isinstance(value, dict):
        return _Data({name: _wrap(each) for name, each in value.items()})
    return [_wrap(each) for each in value] if isinstance(value, list) else value

def _item_of(value):
    return _Data(json=_wrap(value if isinstance(value, dict) else {}), binary=_Data())

class _Input:
    def __init__(self, items, item):
        self._all, self.item = items, item
    def all(self):
        return self._all
    def first(self):
        return self._all[0] if self._all else None
    def last(self):
        return self._all[-1] if self._all else None

_given = input.get("items", [])
_items = items = [_item_of(each) for each in (_given if isinstance(_given, list) else [_given])]
_item = item = _item_of(input.get("json")) if "json" in input else (_items[0] if _items else _item_of({}))
_json = _item.json
_input = _Input(_items, _item)`;

const RESULTS = `_out = _code()
_results = _out if isinstance(_out, list) else [_out]
return [each["json"] if isinstance(each, dict) and "json" in each else each for each in _results if each is not None]`;

/** Names that only the original has. */
const FOREIGN =
  /(?<![\w.])(_getWorkflowStaticData|_node|_execution|_workflow|_vars|_env|_prevNode|_now|_today|_jmespath|micropip|js|pyodide)\b|(?<![\w.])(_)\s*\(|(?<![\w.])(await)\b/m;

/** Code as the body of a function. Lines within a text of several lines stay as they are: it would notice. */
function indented(code: string): readonly string[] {
  const inText = linesInTexts(code);
  return code.split('\n').map((line, index) => {
    if (inText.has(index)) return line;
    const [indent = ''] = /^[ \t]*/.exec(line) ?? [];
    const rest = line.slice(indent.length);
    return rest === '' ? '' : `    ${indent.replaceAll('\t', '    ')}${rest}`;
  });
}

/** The lines that begin within a text. */
function linesInTexts(code: string): ReadonlySet<number> {
  const found = new Set<number>();
  let line = 0;
  let end = '';
  for (let at = 0; at < code.length; at += 1) {
    const sign = code[at] ?? '';
    if (sign === '\n') {
      line += 1;
      if (end.length === 3) found.add(line);
      // Comments end here, and texts in single quotes.
      else end = '';
    } else if (end === '#') continue;
    else if (end !== '') {
      if (sign === '\\') {
        at += 1;
        if (code[at] === '\n') {
          line += 1;
          if (end.length === 3) found.add(line);
        }
      } else if (code.startsWith(end, at)) {
        at += end.length - 1;
        end = '';
      }
    } else if (sign === '#') end = '#';
    else if (sign === '"' || sign === "'") {
      end = code.startsWith(sign.repeat(3), at) ? sign.repeat(3) : sign;
      at += end.length - 1;
    }
  }
  return found;
}

/**
 * A Code node of n8n in Python.
 * @returns where the list of its items is
 */
export function runPython(step: Step): string {
  const code = step.text('pythonCode');
  const foreign =
    missingPackageIn(code) ??
    FOREIGN.exec(code)
      ?.slice(1)
      .find((part) => part !== undefined) ??
    null;
  if (foreign !== null) throw new Unmappable(message('import.only_in_original', { part: foreign }));
  const lines = indented(code);
  const body = lines.some((line) => /^\s+[^\s#]/.test(line)) ? lines.join('\n') : '    pass';
  const id = step.add('core.code', {
    language: 'python',
    code: literal(`${ITEMS}\n\ndef _code():\n${body}\n\n${RESULTS}`),
    input: step.codeInput(['items'], {}),
    timeout_ms: 30_000,
  });
  return `nodes.${id}.output.result`;
}
