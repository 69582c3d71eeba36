/** What style sheets that are added at run time carry, so that the page's policy lets them in. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
}
