const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as HTML shows it, also in attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

/** The text that HTML without scripts and styles shows, on one line. */
export function textOfHtml(html: string): string {
  const text = html.replaceAll(/<[^>]*>/g, ' ');
  const plain = Object.entries(ESCAPES)
    .reverse()
    .reduce((rest, [character, escaped]) => rest.replaceAll(escaped, character), text);
  return plain.replaceAll(/\s+/g, ' ').trim();
}
