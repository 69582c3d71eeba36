/* What was said, as the page shows it. */
parts.log = ({ texts, element, formatted }) => {
  const log = document.querySelector('#log');

  function isAtEnd() {
    return log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  }

  function scrollToEnd() {
    log.scrollTop = log.scrollHeight;
  }

  function bubble(who, text) {
    const article = document.createElement('article');
    article.className = who;
    const label = element('span', who === 'mine' ? texts.you : texts.them, { className: 'unseen' });
    const body = element('div', '', { className: 'text' });
    if (who === 'mine') body.textContent = text;
    else body.replaceChildren(...formatted(text));
    article.append(label, body);
    log.append(article);
    return article;
  }

  function setText(article, text) {
    const follows = isAtEnd();
    article.querySelector('.text').replaceChildren(...formatted(text));
    if (follows) scrollToEnd();
  }

  /** Shows that something is under way: dots, or that somebody else has to act first. */
  function setState(article, state) {
    article.setAttribute('aria-busy', String(state === 'running'));
    const follows = isAtEnd();
    const text = article.querySelector('.text');
    if (state === 'waiting') text.replaceChildren(element('span', texts.waiting, { className: 'note' }));
    else if (text.textContent === '' || text.querySelector('.note') !== null) {
      const dots = element('span', '', { className: 'dots', role: 'img' });
      dots.setAttribute('aria-label', texts.writing);
      dots.append(document.createElement('i'), document.createElement('i'), document.createElement('i'));
      text.replaceChildren(dots);
    }
    if (follows) scrollToEnd();
  }

  /** It is part of the page as it was written. */
  function formatGreeting() {
    const text = log.querySelector('.greeting .text');
    text?.replaceChildren(...formatted(text.textContent));
  }

  /** Leaves the greeting. */
  function clear() {
    for (const article of log.querySelectorAll('article:not(.greeting)')) article.remove();
  }

  return { isAtEnd, scrollToEnd, bubble, setText, setState, formatGreeting, clear };
};
