/* Elements, and answers in Markdown, as models write them. HTML in an answer stays text: every element is made here. */
parts.markup = () => {
  const reader = markdownit({ linkify: true, breaks: true });
  // What only looks like an address isn't one: "README.md" isn't a website.
  reader.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  reader.validateLink = (address) => /^(?:https?|mailto):/i.test(address);

  function element(name, text, more = {}) {
    return Object.assign(document.createElement(name), { textContent: text, ...more });
  }

  function link(text, href) {
    return element('a', text, { href, target: '_blank', rel: 'noopener noreferrer nofollow' });
  }

  /** What stands for a token that contains nothing else. */
  function leaf(token) {
    const { type, content } = token;
    switch (type) {
      case 'code_inline':
        return element('code', content);
      case 'fence':
      case 'code_block':
        return element('pre', content.replace(/\n$/, ''), { tabIndex: 0 });
      case 'softbreak':
      case 'hardbreak':
      case 'hr':
        return element(token.tag, '');
      // The page loads nothing from elsewhere.
      case 'image':
        return link(content || token.attrGet('src'), token.attrGet('src'));
      default:
        return document.createTextNode(content);
    }
  }

  /** The element that a token opens. */
  function opened(token) {
    if (token.type === 'link_open') return link('', token.attrGet('href'));
    // Below the title of the chat; models choose levels by looks, and leave some out.
    const made = element(token.type === 'heading_open' ? 'h2' : token.tag, '');
    if (token.tag === 'ol') made.start = Number(token.attrGet('start') ?? 1);
    const [, align] = /text-align:(center|right)/.exec(token.attrGet('style') ?? '') ?? [];
    if (align !== undefined) made.className = align;
    return made;
  }

  /** Adds what the tokens stand for, which are in the order of the text. */
  function append(tokens, root) {
    let place = root;
    for (const token of tokens) {
      if (token.type === 'inline') append(token.children, place);
      else if (token.hidden) continue;
      else if (token.nesting === -1) place = (token.tag === 'table' ? place.parentNode : place).parentNode;
      else if (token.nesting === 0) place.append(leaf(token));
      else {
        const made = opened(token);
        if (token.tag === 'table') {
          // Wide tables scroll by themselves, also by keyboard.
          const frame = element('div', '', { className: 'wide', tabIndex: 0 });
          frame.append(made);
          place.append(frame);
        } else place.append(made);
        place = made;
      }
    }
    return root;
  }

  function formatted(text) {
    return append(reader.parse(text, {}), document.createDocumentFragment()).childNodes;
  }

  return { element, formatted };
};
