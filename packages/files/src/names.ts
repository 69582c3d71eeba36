const MAX_LENGTH = 255;
/** A media type with its parameters (RFC 9110, 8.3.1). */
const MEDIA_TYPE =
  /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[\x20-\x21\x23-\x7e]*"))*$/;

/** A name without a path, or anything that is invisible or changes the direction of the text after it; `file` if nothing is left. */
export function fileName(given: string | undefined): string {
  const [last = ''] = (given ?? '').split(/[/\\]/).slice(-1);
  const visible = last.replace(/[\p{C}\u2028\u2029]/gu, '').trim();
  const name = [...visible].slice(0, MAX_LENGTH).join('');
  return name === '' || /^\.+$/.test(name) ? 'file' : name;
}

/** A media type that can be sent in a header; `application/octet-stream` for anything else. */
export function mediaType(given: string | undefined): string {
  const type = given?.trim() ?? '';
  if (type.length > MAX_LENGTH || !MEDIA_TYPE.test(type)) return 'application/octet-stream';
  return type.replace(/^[^;]+/, (essence) => essence.toLowerCase());
}
