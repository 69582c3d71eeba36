/* The session of a conversation, a secret that only this browser has, and calls with it. */
parts.session = ({ base, language }) => {
  const STORE = `millrace chat ${base}`;
  let session = readSession();
  /** Conversations begun on this page: what belongs to a former one is no longer shown. */
  let era = 0;

  function readSession() {
    try {
      const kept = localStorage.getItem(STORE);
      if (kept !== null && /^[\w-]{43}$/.test(kept)) return kept;
    } catch {
      // Storage is closed to frames in some browsers: the conversation lasts as long as the page.
    }
    return null;
  }

  /** Begins one unless there is one. */
  function begin() {
    if (session !== null) return;
    session = randomText(32);
    try {
      localStorage.setItem(STORE, session);
    } catch {
      // As above.
    }
  }

  function forget() {
    era += 1;
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

  function headers() {
    return { ...(session === null ? {} : { 'x-chat-session': session }), 'accept-language': language };
  }

  function call(path, options = {}) {
    return fetch(base + path, {
      ...options,
      credentials: 'omit',
      headers: { ...headers(), ...options.headers },
    });
  }

  return {
    isBegun: () => session !== null,
    era: () => era,
    newId: () => randomText(16),
    ...{ begin, forget, headers, call },
  };
};
