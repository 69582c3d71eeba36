/** A media type without its parameters, in lower case. */
export function typeOf(contentType: string | undefined): string | undefined {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase();
}

export function isForm(type: string | undefined): boolean {
  return type === 'application/x-www-form-urlencoded';
}

export function isMultipart(type: string | undefined): boolean {
  return type === 'multipart/form-data';
}
