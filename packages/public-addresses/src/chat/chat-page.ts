import { CHAT_SCRIPT, CHAT_STYLE, policyHash } from '@millrace/chat/assets';
import { escapeHtml } from '@millrace/http/html';
import { message } from '@millrace/messages';
import type { ChatOptions } from '@millrace/triggers';
import type { FastifyReply } from 'fastify';
import { sendDocument } from '../pages/hosted-page.ts';
import { type Reader, readerIn, readerOf } from '../pages/reader.ts';

const SCRIPT_HASH = policyHash(CHAT_SCRIPT);
const STYLE_HASH = policyHash(CHAT_STYLE);

/** The reader of a page whose author may have chosen the language. */
export function chatReader(options: ChatOptions | null, headers: Parameters<typeof readerOf>[0]): Reader {
  return options === null || options.language === 'auto' ? readerOf(headers) : readerIn(options.language);
}

/**
 * Sends the page. It runs its own script and nothing else: what is said becomes text, and the policy refuses to make anything of it that could
 * run. Only websites that the author lists may show it in a frame.
 */
export function sendChatPage(reply: FastifyReply, options: ChatOptions, base: string): FastifyReply {
  const reader = chatReader(options, reply.request.headers);
  const policy = [
    `script-src ${SCRIPT_HASH}`,
    `style-src ${STYLE_HASH}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  const { title, allowed_origins: frames } = options;
  const body = bodyOf(options, base, reader);
  return sendDocument(reply, 200, { reader, title, style: CHAT_STYLE, policy, body, frames });
}

function bodyOf(options: ChatOptions, base: string, reader: Reader): string {
  const { title, greeting, suggestions, placeholder, message_chars: maxChars } = options;
  const { language, say } = reader;
  const texts = {
    you: say(message('chat.you')),
    them: title,
    waiting: say(message('chat.waiting')),
    asked: say(message('chat.asked')),
    comment: say(message('approval.comment')),
    optional: say(message('form.optional')),
    noChoice: say(message('form.no_choice')),
    writing: say(message('chat.writing')),
    failed: say(message('chat.not_taken')),
    offline: say(message('chat.offline')),
    gone: say(message('chat.gone')),
    restart: say(message('chat.restart')),
    tooLong: say(message('chat.too_long', { max: maxChars })),
  };
  const hint = placeholder === '' ? say(message('chat.placeholder')) : placeholder;
  return `<main data-chat="${escapeHtml(JSON.stringify({ base, language, maxChars, texts }))}">
<header><h1>${escapeHtml(title)}</h1><button type="button" id="restart">${escapeHtml(say(message('chat.restart')))}</button></header>
<div id="log" role="log" tabindex="0" aria-label="${escapeHtml(say(message('chat.conversation')))}">
${greeting === '' ? '' : `<article class="theirs greeting"><div class="text">${escapeHtml(greeting)}</div></article>`}
</div>
<div id="suggestions" role="group" aria-label="${escapeHtml(say(message('chat.suggestions')))}">${suggestions
    .map((question) => `<button type="button">${escapeHtml(question)}</button>`)
    .join('')}</div>
<form id="compose" hidden>
<label class="unseen" for="message">${escapeHtml(say(message('chat.message')))}</label>
<textarea id="message" rows="1" autocomplete="off" placeholder="${escapeHtml(hint)}"></textarea>
<button type="submit" id="send">${escapeHtml(say(message('chat.send')))}</button>
</form>
<p id="status" role="status"></p>
<noscript><p>${escapeHtml(say(message('chat.no_script')))}</p></noscript>
</main>
<script>${CHAT_SCRIPT}</script>`;
}
