/* Elements, and text with the little formatting that models use. */
parts.markup = () => {
  const BLOCK = /```[^\n`]*\n([\s\S]*?)(?:```|$)/g;
  const INLINE =
    /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)|(https?:\/\/[^\s<>"'）」]+[^\s<>"'.,;:!?)\]）」。、])/g;

  function element(name, text, more = {}) {
    return Object.assign(document.createElement(name), { textContent: text, ...more });
  }

  function link(text, href) {
    return element('a', text, { href, target: '_blank', rel: 'noopener noreferrer nofollow' });
  }

  function inline(text) {
    const parts = [];
    let done = 0;
    for (const match of text.matchAll(INLINE)) {
      const [whole, code, bold, label, href, bare] = match;
      parts.push(text.slice(done, match.index));
      if (code !== undefined) parts.push(element('code', code));
      else if (bold !== undefined) parts.push(element('strong', bold));
      else if (href !== undefined) parts.push(link(label, href));
      else parts.push(link(bare, bare));
      done = match.index + whole.length;
    }
    parts.push(text.slice(done));
    return parts;
  }

  function formatted(text) {
    const parts = [];
    let done = 0;
    for (const match of text.matchAll(BLOCK)) {
      parts.push(...inline(text.slice(done, match.index)));
      const block = element('pre', match[1], { tabIndex: 0 });
      parts.push(block);
      done = match.index + match[0].length;
    }
    parts.push(...inline(text.slice(done)));
    return parts;
  }

  return { element, formatted };
};
