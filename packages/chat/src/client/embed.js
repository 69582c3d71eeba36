/*
 * Shows the button of a chat and, once it is pressed, the chat itself in a frame. Runs on other websites, so it leaves nothing there but one
 * element, and sets styles one by one, because a site's policy may allow no style elements. `millraceChat` is written before it: the address
 * of the page, its title and texts.
 */
((settings) => {
  if (!settings.isAllowed) {
    console.warn('This chat is not shown: the settings of its trigger list no website that may show it.');
    return;
  }
  // Where the script came from is where the page is, too.
  const own = document.currentScript?.src ?? '';
  const url = own.endsWith('/embed.js') ? own.slice(0, -'/embed.js'.length) : settings.url;
  const host = document.createElement('div');
  const shadow = host.attachShadow({ mode: 'open' });
  const button = document.createElement('button');
  let frame = null;

  const isDark = () => matchMedia('(prefers-color-scheme: dark)').matches;
  const style = (element, rules) => {
    for (const [name, value] of Object.entries(rules)) element.style.setProperty(name, value);
  };
  const isNarrow = () => innerWidth < 480;

  style(host, { position: 'fixed', right: '16px', bottom: '16px', 'z-index': '2147483000' });
  style(button, {
    font: '600 16px/1.2 system-ui, sans-serif',
    'min-height': '52px',
    'max-width': 'min(320px, calc(100vw - 32px))',
    padding: '12px 20px',
    border: '0',
    'border-radius': '26px',
    cursor: 'pointer',
    color: isDark() ? '#10151c' : '#fff',
    background: isDark() ? '#7fb0ff' : '#1f5fbf',
    'box-shadow': '0 4px 16px rgb(0 0 0 / 30%)',
  });
  button.type = 'button';
  button.textContent = settings.open;
  button.setAttribute('aria-expanded', 'false');

  function placeFrame() {
    style(
      frame,
      isNarrow()
        ? {
            position: 'fixed',
            inset: '8px 8px 84px 8px',
            width: 'calc(100vw - 16px)',
            height: 'calc(100dvh - 92px)',
          }
        : {
            position: 'fixed',
            inset: 'auto 16px 84px auto',
            width: '400px',
            height: 'min(620px, calc(100dvh - 100px))',
          },
    );
  }

  function makeFrame() {
    frame = document.createElement('iframe');
    frame.src = url;
    frame.title = settings.title;
    frame.setAttribute('referrerpolicy', 'origin');
    style(frame, {
      border: '1px solid #8a93a0',
      'border-radius': '12px',
      background: isDark() ? '#121212' : '#fff',
      'color-scheme': 'light dark',
      'box-shadow': '0 8px 32px rgb(0 0 0 / 35%)',
    });
    placeFrame();
    shadow.append(frame);
  }

  function toggle(isOpen) {
    if (isOpen && frame === null) makeFrame();
    if (frame !== null) frame.style.setProperty('display', isOpen ? 'block' : 'none');
    button.setAttribute('aria-expanded', String(isOpen));
    button.textContent = isOpen ? settings.close : settings.open;
    if (isOpen) frame.focus();
    else button.focus();
  }

  const isOpen = () => button.getAttribute('aria-expanded') === 'true';
  button.addEventListener('click', () => toggle(!isOpen()));
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && isOpen()) toggle(false);
  });
  addEventListener('message', (event) => {
    if (frame === null || event.source !== frame.contentWindow) return;
    if (event.data === 'millrace-chat:close' && isOpen()) toggle(false);
  });
  addEventListener('resize', () => {
    if (frame !== null) placeFrame();
  });

  shadow.append(button);
  const show = () => document.body.append(host);
  if (document.body === null) addEventListener('DOMContentLoaded', show);
  else show();
})(millraceChat);
