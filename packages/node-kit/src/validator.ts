import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/**
 * The validator of a schema, compiled at its first use. The service starts with all nodes, but most instances run few of them, and
 * compiling is the most expensive part of loading one.
 */
export function validatorOf<Schema extends TSchema>(
  schema: Schema,
): () => ReturnType<typeof Compile<Schema>> {
  let compiled: ReturnType<typeof Compile<Schema>> | null = null;
  return () => {
    compiled ??= Compile(schema);
    return compiled;
  };
}
