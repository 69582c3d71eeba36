/*
 * The script of a chat page, served inside it as it stands; nothing builds it. What visitors, models and authors write only ever becomes text
 * nodes: the page's policy refuses everything else. `data-chat` of the page has its address, limits and texts.
 */
(() => {
  const root = document.querySelector('main');
  const { base, texts, maxChars, language, maxFiles, maxFileBytes } = JSON.parse(root.dataset.chat);
  const log = document.querySelector('#log');
  const suggestions = document.querySelector('#suggestions');
  const form = document.querySelector('#compose');
  const input = document.querySelector('#message');
  const send = document.querySelector('#send');
  const status = document.querySelector('#status');
  const progress = document.querySelector('#progress');
  const fileList = document.querySelector('#files');
  /** Absent where the author takes no files. */
  const pick = document.querySelector('#pick');
  const attach = document.querySelector('#attach');
  /** Chosen for the next message. */
  let chosen = [];
  const STORE = `millrace chat ${base}`;
  const RETRY_MS = [1_000, 2_000, 5_000, 10_000, 30_000];
  let session = readSession();
  /** Conversations begun on this page: streams of a former one are no longer shown. */
  let era = 0;

  // ---- the session, a secret that only this browser has

  function readSession() {
    try {
      const kept = localStorage.getItem(STORE);
      if (kept !== null && /^[\w-]{43}$/.test(kept)) return kept;
    } catch {
      // Storage is closed to frames in some browsers: the conversation lasts as long as the page.
    }
    return null;
  }

  function beginSession() {
    session = randomText(32);
    try {
      localStorage.setItem(STORE, session);
    } catch {
      // As above.
    }
  }

  function forgetSession() {
    session = null;
    try {
      localStorage.removeItem(STORE);
    } catch {
      // As above.
    }
  }

  function randomText(bytes) {
    const random = crypto.getRandomValues(new Uint8Array(bytes));
    return btoa(String.fromCharCode(...random))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '');
  }

  function call(path, options = {}) {
    return fetch(base + path, {
      ...options,
      credentials: 'omit',
      headers: {
        ...(session === null ? {} : { 'x-chat-session': session }),
        'accept-language': language,
        ...options.headers,
      },
    });
  }

  // ---- text with the little formatting that models use

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

  // ---- the conversation

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
    if (state === 'waiting') text.replaceChildren(element('em', texts.waiting));
    else if (text.textContent === '' || text.querySelector('em') !== null) {
      const dots = element('span', '', { className: 'dots', role: 'img' });
      dots.setAttribute('aria-label', texts.writing);
      dots.append(document.createElement('i'), document.createElement('i'), document.createElement('i'));
      text.replaceChildren(dots);
    }
    if (follows) scrollToEnd();
  }

  function end(article, { outcome, answer, files }, number = 0) {
    article.removeAttribute('aria-busy');
    askFor(article, 0, []);
    if (outcome === 'failed') article.classList.add('failed');
    setText(article, answer);
    for (const file of files ?? []) article.append(givenFile(number, file));
    if (isAtEnd()) scrollToEnd();
  }

  // ---- files

  const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
  const MOST_PICTURE_BYTES = 5_000_000;

  function sizeOf(bytes) {
    const [unit, value] = bytes < 1_000_000 ? ['kilobyte', bytes / 1_000] : ['megabyte', bytes / 1_000_000];
    return value.toLocaleString(document.documentElement.lang, {
      ...{ style: 'unit', unit, maximumFractionDigits: 1 },
    });
  }

  /** A file of an answer: a button that saves it, and a picture as such. Its address needs the session's secret. */
  function givenFile(number, { id, name, type, size }) {
    const box = element('div', '', { className: 'given' });
    const button = element('button', `${name} (${sizeOf(size)})`, { type: 'button' });
    button.setAttribute('aria-label', texts.save.replace('NAME', name));
    let kept = null;
    const load = async () => {
      if (kept !== null) return kept;
      const response = await call(`/turns/${number}/files/${id}`);
      if (!response.ok) throw new Error((await response.json()).problem ?? texts.failed);
      // As a picture it is one of four types, and as anything else it is only saved.
      const content = new Blob([await response.arrayBuffer()], PICTURES.includes(type) ? { type } : {});
      kept = URL.createObjectURL(content);
      return kept;
    };
    button.addEventListener('click', async () => {
      try {
        const href = await load();
        element('a', '', { href, download: name }).click();
      } catch (error) {
        say(error instanceof TypeError ? texts.offline : error.message);
      }
    });
    box.append(button);
    if (PICTURES.includes(type) && size <= MOST_PICTURE_BYTES) {
      load().then(
        (src) => box.prepend(element('img', '', { src, alt: name })),
        () => {},
      );
    }
    return box;
  }

  function sentFiles(article, files) {
    if (files.length === 0) return;
    const list = element('ul', '', { className: 'sent' });
    list.append(...files.map(({ name, size }) => element('li', `${name} (${sizeOf(size)})`)));
    article.append(list);
  }

  function choose(files) {
    for (const file of files) {
      const isTooLarge = [...chosen, file].reduce((sum, { size }) => sum + size, 0) > maxFileBytes;
      if (chosen.length >= maxFiles) say(texts.tooManyFiles);
      else if (isTooLarge) say(texts.filesTooLarge);
      else chosen.push(file);
    }
    showChosen();
  }

  function showChosen() {
    fileList.hidden = chosen.length === 0;
    fileList.replaceChildren(
      ...chosen.map((file) => {
        const item = element('li', `${file.name} (${sizeOf(file.size)})`);
        const button = element('button', '×', { type: 'button' });
        button.setAttribute('aria-label', texts.remove.replace('NAME', file.name));
        button.addEventListener('click', () => {
          chosen = chosen.filter((each) => each !== file);
          showChosen();
          attach.focus();
        });
        item.append(button);
        return item;
      }),
    );
  }

  function bodyWith(files, fields) {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    for (const file of files) body.append('files', file, file.name);
    return body;
  }

  /** Only this tells how much has been sent. */
  function upload(body) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('POST', `${base}/messages/files`);
      request.setRequestHeader('x-chat-session', session);
      request.setRequestHeader('accept-language', language);
      request.upload.addEventListener('progress', ({ loaded, total }) => {
        progress.value = total === 0 ? 0 : loaded / total;
      });
      request.addEventListener('load', () => {
        const isOk = request.status >= 200 && request.status < 300;
        resolve({ ok: isOk, json: async () => JSON.parse(request.responseText) });
      });
      request.addEventListener('error', () => reject(new TypeError('offline')));
      request.send(body);
    });
  }

  function say(text) {
    status.textContent = text;
  }

  // ---- what a visitor is asked

  /** Shows what is asked now. A question that is still open keeps what was entered. */
  function askFor(article, number, questions) {
    const ids = new Set(questions.map(({ id }) => String(id)));
    for (const shown of article.querySelectorAll('.asked')) if (!ids.delete(shown.dataset.id)) shown.remove();
    const follows = isAtEnd();
    for (const question of questions)
      if (ids.has(String(question.id))) article.append(questionForm(number, question));
    const wait = article.querySelector('.text em');
    if (wait !== null) wait.textContent = questions.length > 0 ? texts.asked : texts.waiting;
    if (follows) scrollToEnd();
  }

  function questionForm(number, { id, title, text, choices, fields, takes_comment: takesComment }) {
    const form = element('form', '', { className: 'asked', noValidate: true });
    form.dataset.id = id;
    form.setAttribute('aria-label', title);
    form.append(element('strong', title));
    if (text !== '') form.append(element('p', text));
    form.append(...fields.map((field, index) => questionField(field, `asked-${id}-${index}`)));
    const comment = Object.assign(document.createElement('textarea'), {
      ...{ id: `asked-${id}-comment`, rows: 2, maxLength: 5_000 },
    });
    if (takesComment) {
      const box = element('div', '', { className: 'field' });
      box.append(element('label', texts.comment, { htmlFor: comment.id }), comment);
      form.append(box);
    }
    const problem = element('p', '', { className: 'fault', role: 'alert' });
    const buttons = element('div', '', { className: 'choices' });
    buttons.append(
      ...choices.map((choice) => element('button', choice.label, { type: 'submit', value: choice.id })),
    );
    form.append(problem, buttons);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const choice = event.submitter?.value ?? '';
      void decide(number, form, { id, choice, values: enteredIn(form), comment: comment.value });
    });
    return form;
  }

  /** A field with its label. Groups of options are as in forms: few are shown, many are a list. */
  function questionField({ name, label, type, required, help, choices, value }, id) {
    const note = required || type === 'checkbox' ? '' : ` ${texts.optional}`;
    const about = element('p', help, { id: `${id}-help`, className: 'help', hidden: help === '' });
    const fault = element('p', '', { id: `${id}-fault`, className: 'fault', hidden: true });
    const described = help === '' ? fault.id : `${about.id} ${fault.id}`;
    if (type === 'choices' || (type === 'choice' && choices.length <= 6)) {
      const group = element('fieldset', '');
      group.dataset.name = name;
      group.setAttribute('aria-describedby', described);
      const kind = type === 'choices' ? 'checkbox' : 'radio';
      // The names of radio buttons must differ between questions.
      const options = choices.map((choice) =>
        option(choice, { type: kind, name: id, checked: choice === value }),
      );
      group.append(element('legend', label + note), about, fault, ...options);
      return group;
    }
    const box = element('div', '', { className: 'field' });
    box.dataset.name = name;
    if (type === 'checkbox') {
      const line = option(label, { type: 'checkbox', id, checked: value !== '' }, 'on');
      line.firstChild.setAttribute('aria-describedby', described);
      box.append(line, about, fault);
      return box;
    }
    const input = control({ type, choices, value });
    Object.assign(input, { id, required });
    input.setAttribute('aria-describedby', described);
    box.append(element('label', label + note, { htmlFor: id }), about, fault, input);
    return box;
  }

  function option(text, settings, value = text) {
    const line = element('label', '', { className: 'option' });
    const box = Object.assign(document.createElement('input'), { ...settings, value });
    line.append(box, ` ${text}`);
    return line;
  }

  function control({ type, choices, value }) {
    if (type === 'choice') {
      const list = document.createElement('select');
      list.append(element('option', texts.noChoice, { value: '' }));
      for (const choice of choices) list.append(element('option', choice, { value: choice }));
      list.value = value;
      return list;
    }
    if (type === 'paragraph') return Object.assign(document.createElement('textarea'), { value, rows: 3 });
    const kind = type === 'email' || type === 'date' ? type : 'text';
    const more = type === 'number' ? { inputMode: 'decimal' } : {};
    return Object.assign(document.createElement('input'), { type: kind, value, ...more });
  }

  function enteredIn(form) {
    const values = Object.create(null);
    for (const field of form.querySelectorAll('[data-name]')) {
      const inputs = [...field.querySelectorAll('input, textarea, select')];
      const isChoice = ({ type }) => type === 'checkbox' || type === 'radio';
      values[field.dataset.name] = inputs
        .filter((input) => !isChoice(input) || input.checked)
        .map((input) => input.value);
    }
    return values;
  }

  async function decide(number, form, decision) {
    const buttons = form.querySelectorAll('button');
    for (const button of buttons) button.disabled = true;
    const said = await postDecision(number, decision);
    for (const button of buttons) button.disabled = false;
    if (said.problem === undefined) return form.remove();
    form.querySelector('[role="alert"]').textContent = said.problem;
    const faults = new Map((said.faults ?? []).map(({ name, fault }) => [name, fault]));
    for (const field of form.querySelectorAll('[data-name]')) {
      const fault = faults.get(field.dataset.name);
      const shown = field.querySelector('.fault');
      shown.textContent = fault ?? '';
      shown.hidden = fault === undefined;
      for (const input of field.querySelectorAll('input, textarea, select'))
        input.setAttribute('aria-invalid', String(fault !== undefined));
    }
    form.querySelector('[aria-invalid="true"]')?.focus();
  }

  async function postDecision(number, decision) {
    try {
      const response = await call(`/turns/${number}/decisions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(decision),
      });
      const said = await response.json();
      return response.ok ? {} : { problem: said.problem ?? texts.failed, faults: said.faults };
    } catch {
      return { problem: texts.offline };
    }
  }

  // ---- following an answer

  async function* events(body) {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of readable(body)) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop();
      for (const block of blocks) {
        const lines = block.split('\n');
        const event = lines.find((line) => line.startsWith('event: '))?.slice(7);
        const data = lines.find((line) => line.startsWith('data: '))?.slice(6);
        if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) };
      }
    }
  }

  /** Not every browser can iterate over streams. */
  async function* readable(body) {
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  }

  async function follow(number, article) {
    const mine = era;
    let failures = 0;
    setState(article, 'running');
    while (mine === era) {
      try {
        const response = await call(`/turns/${number}/events`, { headers: { accept: 'text/event-stream' } });
        if (response.status === 404) return end(article, { outcome: 'failed', answer: texts.gone });
        if (response.ok) {
          let written = '';
          for await (const { event, data } of events(response.body)) {
            if (mine !== era) return;
            failures = 0;
            if (event === 'state') setState(article, data.state);
            else if (event === 'ask') askFor(article, number, data.questions);
            else if (event === 'end') return end(article, data, number);
            else if (event === 'text') {
              written = data.from === 0 ? data.text : written.slice(0, data.from) + data.text;
              setText(article, written);
            }
          }
        } else failures += 1;
      } catch {
        failures += 1;
      }
      await new Promise((resolve) => {
        setTimeout(resolve, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]);
      });
    }
  }

  // ---- sending

  function newId() {
    return randomText(16);
  }

  async function submit(text, files = []) {
    if (session === null) beginSession();
    suggestions.hidden = true;
    say('');
    const mine = bubble('mine', text);
    sentFiles(mine, files);
    scrollToEnd();
    progress.value = 0;
    progress.hidden = files.length === 0;
    const sent = await post({ message_id: newId(), message: text }, files);
    progress.hidden = true;
    if (sent.number !== undefined) {
      const article = bubble('theirs', '');
      scrollToEnd();
      void follow(sent.number, article);
      return;
    }
    // Not taken: the text goes back to where it can be sent again.
    mine.remove();
    if (input.value === '') input.value = text;
    if (chosen.length === 0) chosen = files;
    showChosen();
    fitInput();
    say(sent.problem);
    if (sent.ends === true) status.append(' ', newConversationButton());
  }

  /** The same message is sent again with the same id, so it can't be taken twice. */
  async function post(body, files) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const response =
          files.length > 0
            ? await upload(bodyWith(files, body))
            : await call('/messages', {
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
    era += 1;
    forgetSession();
    for (const article of log.querySelectorAll('article:not(.greeting)')) article.remove();
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
    const files = chosen;
    chosen = [];
    showChosen();
    await submit(text, files);
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
  if (pick !== null) {
    attach.addEventListener('click', () => pick.click());
    pick.addEventListener('change', () => {
      choose(pick.files);
      pick.value = '';
      input.focus();
    });
    input.addEventListener('paste', (event) => {
      if (event.clipboardData.files.length === 0) return;
      event.preventDefault();
      choose(event.clipboardData.files);
    });
  }
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
    if (session === null) return;
    const mine = era;
    try {
      const response = await call('/turns');
      if (mine !== era || !response.ok) return;
      const { turns } = await response.json();
      if (turns.length > 0) suggestions.hidden = true;
      for (const turn of turns) {
        sentFiles(bubble('mine', turn.message), turn.sent_files);
        const article = bubble('theirs', '');
        if (turn.outcome === null) void follow(turn.number, article);
        else end(article, turn, turn.number);
      }
      scrollToEnd();
    } catch {
      say(texts.offline);
    }
  }

  form.hidden = false;
  void load();
})();
