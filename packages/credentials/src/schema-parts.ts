import { type TProperties, Type } from 'typebox';

const MAX_SECRET = 16_384;

/** The fields of a type of credential. */
export function fields<Properties extends TProperties>(
  title: string,
  description: string,
  properties: Properties,
) {
  return Type.Object(properties, { title, description, additionalProperties: false });
}

/** A field stored in encrypted form and never shown again. */
export function secret(title: string, description: string, minLength = 1) {
  return Type.String({ title, description, minLength, maxLength: MAX_SECRET, 'x-secret': true });
}

export function optionalSecret(title: string, description: string) {
  return Type.Unsafe<string | null>({
    type: ['string', 'null'],
    title,
    description,
    minLength: 1,
    maxLength: MAX_SECRET,
    default: null,
    'x-secret': true,
  });
}

export function text(title: string, description: string, maxLength = 255) {
  return Type.String({ title, description, minLength: 1, maxLength });
}

export function optionalText(title: string, description: string, maxLength = 2048) {
  return Type.Unsafe<string | null>({
    type: ['string', 'null'],
    title,
    description,
    maxLength,
    default: null,
  });
}

export function choice<T extends string>(
  title: string,
  description: string,
  values: readonly T[],
  fallback?: NoInfer<T>,
) {
  const preset = fallback === undefined ? {} : { default: fallback };
  return Type.Unsafe<T>({ type: 'string', enum: values, title, description, ...preset });
}

/** The choice with the names of its values. */
export function labelled<Schema extends object>(
  schema: Schema,
  labels: { readonly [value: string]: string },
): Schema {
  return { ...schema, 'x-labels': labels };
}

/** A field that the form shows while another one has one of these values. */
export function shownFor<Schema extends object>(
  schema: Schema,
  when: { readonly [field: string]: readonly string[] },
): Schema {
  return { ...schema, 'x-when': when };
}
