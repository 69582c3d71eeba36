/** As names stand in templates; those that begin with _ are the form's own. */
const NAME = /^[^_\s{}"\\\p{Cc}](?:[^{}"\\\p{Cc}]*[^\s{}"\\\p{Cc}])?$/u;

/** Whether a field may have this name. */
export function isFieldName(name: string): boolean {
  return NAME.test(name);
}
