import type { Message, MessageParam } from './message.ts';

/** Parameters as i18next expects them: nested messages are already rendered. */
export type RenderedParams = { readonly [name: string]: string | number | readonly string[] };

/**
 * The sentence in another language: renders the messages among the parameters, then the one around them.
 * @param translate i18next's `t` for a part (its namespace) and a name in it
 */
export function render(
  { key, params = {} }: Message,
  translate: (part: string, name: string, params: RenderedParams) => string,
): string {
  const [part = '', name = ''] = key.split('.', 2);
  const rendered = Object.entries(params).map(
    ([param, value]) => [param, renderParam(value, translate)] as const,
  );
  return translate(part, name, Object.fromEntries(rendered));
}

function renderParam(
  param: MessageParam,
  translate: Parameters<typeof render>[1],
): string | number | readonly string[] {
  if (typeof param !== 'object') return param;
  return 'key' in param ? render(param, translate) : param.map((each) => render(each, translate));
}
