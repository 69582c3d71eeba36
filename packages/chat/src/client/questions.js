/* What a visitor is asked before an answer goes on. */
parts.questions = ({ texts, element, session, log }) => {
  const { isAtEnd, scrollToEnd } = log;

  /** Shows what is asked now. A question that is still open keeps what was entered. */
  function askFor(article, number, questions) {
    const ids = new Set(questions.map(({ id }) => String(id)));
    for (const shown of article.querySelectorAll('.asked')) if (!ids.delete(shown.dataset.id)) shown.remove();
    const follows = isAtEnd();
    for (const question of questions)
      if (ids.has(String(question.id))) article.append(questionForm(number, question));
    const wait = article.querySelector('.text .note');
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
      box.append(labelOf('label', texts.comment, true, { htmlFor: comment.id }), comment);
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
    const isOptional = !required && type !== 'checkbox';
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
      group.append(labelOf('legend', label, isOptional), about, fault, ...options);
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
    box.append(labelOf('label', label, isOptional, { htmlFor: id }), about, fault, input);
    return box;
  }

  function labelOf(tag, text, isOptional, settings = {}) {
    const label = element(tag, text, settings);
    if (isOptional) label.append(' ', element('span', texts.optional, { className: 'note' }));
    return label;
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
      const response = await session.call(`/turns/${number}/decisions`, {
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

  return { askFor };
};
