import { type TEnum, Type } from 'typebox';

/** A setting that is one of a few names, each shown by its label, in this order. */
export function choice<Name extends string>(
  title: string,
  description: string,
  labels: { readonly [Each in Name]: string },
  more: { readonly default?: NoInfer<Name>; readonly 'x-when'?: object } = {},
): TEnum<Name[]> {
  const names = Object.keys(labels) as Name[];
  return Type.Enum(names, { type: 'string', title, description, 'x-labels': labels, ...more });
}
