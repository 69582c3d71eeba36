import { CHAT_SCRIPT, CHAT_STYLE, policyHash } from '@millrace/chat/assets';
import type { JsonObject } from '@millrace/engine';
import { escapeHtml } from '@millrace/http/html';
import { message } from '@millrace/messages';
import type { ChatOptions } from '@millrace/triggers';
import type { FastifyReply } from 'fastify';
import { sendDocument } from '../pages/hosted-page.ts';
import { type Reader, readerIn, readerOf } from '../pages/reader.ts';
import { MIB } from './message.ts';

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
    // Pictures in answers, once they were fetched with the session's secret.
    'img-src blob:',
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
    ...textsOfFiles(options, say),
  };
  const hint = placeholder === '' ? say(message('chat.placeholder')) : placeholder;
  return `<main data-chat="${escapeHtml(JSON.stringify({ base, language, maxChars, texts, ...limitsOfFiles(options) }))}">
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
${options.files_per_message === 0 ? '' : attachButton(options, say)}<button type="submit" id="send">${escapeHtml(say(message('chat.send')))}</button>
</form>
<ul id="files" aria-label="${escapeHtml(say(message('chat.attached')))}" hidden></ul>
<progress id="progress" max="1" value="0" aria-label="${escapeHtml(say(message('chat.sending')))}" hidden></progress>
<p id="status" role="status"></p>
<noscript><p>${escapeHtml(say(message('chat.no_script')))}</p></noscript>
</main>
<script>${CHAT_SCRIPT}</script>`;
}

/** What of the file input the script and its page need. `NAME` stands for the name of a file. */
function textsOfFiles(
  { files_per_message: max, files_mb: mib }: ChatOptions,
  say: Reader['say'],
): JsonObject {
  const name = 'NAME';
  return {
    save: say(message('chat.save', { name })),
    remove: say(message('chat.remove', { name })),
    tooManyFiles: say(message('chat.too_many_files', { max })),
    filesTooLarge: say(message('chat.files_too_large', { mib })),
  };
}

function limitsOfFiles({ files_per_message: maxFiles, files_mb: mib }: ChatOptions): JsonObject {
  return { maxFiles, maxFileBytes: mib * MIB };
}

function attachButton({ files_accept: accept }: ChatOptions, say: Reader['say']): string {
  const label = escapeHtml(say(message('chat.attach')));
  return `<input type="file" id="pick" multiple hidden${accept === '' ? '' : ` accept="${escapeHtml(accept)}"`}>
<button type="button" id="attach" aria-label="${label}" title="${label}">+</button>
`;
}
