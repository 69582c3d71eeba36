/*
 * The frame of a chat page: sends messages and shows what was said before. It is served inside the page behind the other parts, as they
 * stand; nothing builds them. What visitors, models and authors write only ever becomes text nodes and the elements of `markup.js`: the page's
 * policy refuses everything else. `data-chat` of the page has its address, limits and texts.
 */
parts.chat = () => {
  const page = JSON.parse(document.querySelector('main').dataset.chat);
  const { texts, maxChars } = page;
  const suggestions = document.querySelector('#suggestions');
  const form = document.querySelector('#compose');
  const input = document.querySelector('#message');
  const send = document.querySelector('#send');
  const status = document.querySelector('#status');
  const RETRY_MS = [1_000, 2_000];
  const session = parts.session(page);
  const { element, formatted } = parts.markup();
  const log = parts.log({ texts, element, formatted });
  const files = parts.files({ page, element, session, say });
  const questions = parts.questions({ texts, element, session, log });
  const answers = parts.answers({ texts, session, log, files, questions });
  log.formatGreeting();

  function say(text) {
    status.textContent = text;
  }

  async function submit(text, attached = []) {
    session.begin();
    suggestions.hidden = true;
    say('');
    const mine = log.bubble('mine', text);
    files.showSent(mine, attached);
    log.scrollToEnd();
    const sent = await post({ message_id: session.newId(), message: text }, attached);
    if (sent.number !== undefined) {
      const article = log.bubble('theirs', '');
      log.scrollToEnd();
      void answers.follow(sent.number, article);
      return;
    }
    // Not taken: the text goes back to where it can be sent again.
    mine.remove();
    if (input.value === '') input.value = text;
    files.giveBack(attached);
    fitInput();
    say(sent.problem);
    if (sent.ends === true) status.append(' ', newConversationButton());
  }

  /** The same message is sent again with the same id, so it can't be taken twice. */
  async function post(body, attached) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const response =
          attached.length > 0
            ? await files.upload(body, attached)
            : await session.call('/messages', {
                method: 'POST',
                headers: { 'content-type': 'application/json' },
                body: JSON.stringify(body),
              });
        const said = await response.json();
        return response.ok
          ? { number: said.number }
          : { problem: said.problem ?? texts.failed, ends: said.ends };
      } catch {
        if (attempt === 2) return { problem: texts.offline };
        await new Promise((resolve) => {
          setTimeout(resolve, RETRY_MS[attempt]);
        });
      }
    }
  }

  function newConversationButton() {
    const button = element('button', texts.restart, { type: 'button' });
    button.addEventListener('click', restart);
    return button;
  }

  function restart() {
    session.forget();
    log.clear();
    suggestions.hidden = false;
    say('');
    input.focus();
  }

  function fitInput() {
    input.style.height = 'auto';
    input.style.height = `${Math.min(input.scrollHeight + 2, 160)}px`;
  }

  async function submitInput() {
    const text = input.value.trim();
    if (text === '') return;
    if (text.length > maxChars) return say(texts.tooLong);
    input.value = '';
    fitInput();
    send.disabled = true;
    await submit(text, files.take());
    send.disabled = false;
    input.focus();
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!send.disabled) void submitInput();
  });
  input.addEventListener('input', fitInput);
  input.addEventListener('keydown', (event) => {
    // Enter also confirms what an input method offers (Japanese), which sends nothing.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    form.requestSubmit();
  });
  suggestions.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (button !== null) void submit(button.textContent);
  });
  document.querySelector('#restart').addEventListener('click', restart);
  if (window.parent !== window) {
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && !event.isComposing) window.parent.postMessage('millrace-chat:close', '*');
    });
  }

  // ---- what was said before

  async function load() {
    if (!session.isBegun()) return;
    const mine = session.era();
    try {
      const response = await session.call('/turns');
      if (mine !== session.era() || !response.ok) return;
      const { turns } = await response.json();
      if (turns.length > 0) suggestions.hidden = true;
      for (const turn of turns) {
        files.showSent(log.bubble('mine', turn.message), turn.sent_files);
        const article = log.bubble('theirs', '');
        if (turn.outcome === null) void answers.follow(turn.number, article);
        else answers.end(article, turn, turn.number);
      }
      log.scrollToEnd();
    } catch {
      say(texts.offline);
    }
  }

  form.hidden = false;
  void load();
};
