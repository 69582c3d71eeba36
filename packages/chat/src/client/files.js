/* Files: those of an answer, and those that a visitor chooses for the next message. */
parts.files = ({ page, element, session, say }) => {
  const { base, texts, maxFiles, maxFileBytes } = page;
  const { call, headers } = session;
  const input = document.querySelector('#message');
  const progress = document.querySelector('#progress');
  const fileList = document.querySelector('#files');
  /** Absent where the author takes no files. */
  const pick = document.querySelector('#pick');
  const attach = document.querySelector('#attach');
  /** Chosen for the next message. */
  let chosen = [];

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

  function showSent(article, files) {
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

  function formOf(fields, files) {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    for (const file of files) body.append('files', file, file.name);
    return body;
  }

  /** Sends a message with files, and shows how much of it is sent. */
  async function upload(fields, files) {
    progress.value = 0;
    progress.hidden = false;
    try {
      return await sendForm(formOf(fields, files));
    } finally {
      progress.hidden = true;
    }
  }

  /** Only this kind of request tells how much has been sent. */
  function sendForm(body) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('POST', `${base}/messages/files`);
      for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
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

  /** The files for a message that is sent now. */
  function take() {
    const files = chosen;
    chosen = [];
    showChosen();
    return files;
  }

  /** Those of a message that was not taken, unless others were chosen since. */
  function giveBack(files) {
    if (chosen.length === 0) chosen = files;
    showChosen();
  }

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

  return { givenFile, showSent, upload, take, giveBack };
};
