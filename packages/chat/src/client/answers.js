/* Answers while they are written, and as they end. */
parts.answers = ({ texts, session, log, files, questions }) => {
  const RETRY_MS = [1_000, 2_000, 5_000, 10_000, 30_000];

  function end(article, { outcome, answer, files: given }, number = 0) {
    article.removeAttribute('aria-busy');
    questions.askFor(article, 0, []);
    if (outcome === 'failed') article.classList.add('failed');
    log.setText(article, answer);
    for (const file of given ?? []) article.append(files.givenFile(number, file));
    if (log.isAtEnd()) log.scrollToEnd();
  }

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
    const mine = session.era();
    let failures = 0;
    log.setState(article, 'running');
    while (mine === session.era()) {
      try {
        const response = await session.call(`/turns/${number}/events`, {
          headers: { accept: 'text/event-stream' },
        });
        if (response.status === 404) return end(article, { outcome: 'failed', answer: texts.gone });
        if (response.ok) {
          let written = '';
          for await (const { event, data } of events(response.body)) {
            if (mine !== session.era()) return;
            failures = 0;
            if (event === 'state') log.setState(article, data.state);
            else if (event === 'ask') questions.askFor(article, number, data.questions);
            else if (event === 'end') return end(article, data, number);
            else if (event === 'text') {
              written = data.from === 0 ? data.text : written.slice(0, data.from) + data.text;
              log.setText(article, written);
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

  return { end, follow };
};
