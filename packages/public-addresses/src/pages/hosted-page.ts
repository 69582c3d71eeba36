import { createHash } from 'node:crypto';
import { escapeHtml } from '@millrace/http/html';
import type { Message } from '@millrace/messages';
import type { FastifyReply } from 'fastify';
import { type Reader, readerOf } from './reader.ts';

/** Of all pages that people outside the admin area see: approvals and forms. */
const STYLE = `
:root { color-scheme: light dark; --line: #8a93a0; --soft: #5b6472; --main: #1f5fbf; --on-main: #fff; --bad: #a3261d; }
@media (prefers-color-scheme: dark) {
  :root { --line: #6b7482; --soft: #a3acb9; --main: #7fb0ff; --on-main: #10151c; --bad: #ff9a90; }
}
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; background: Canvas; color: CanvasText; }
main { max-width: 40rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.4rem; line-height: 1.3; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; line-height: 1.3; margin: 1.5rem 0 .5rem; overflow-wrap: anywhere; }
.message { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 1.5rem; }
.note { color: var(--soft); font-size: .9rem; font-weight: 400; }
.problem { color: var(--bad); font-weight: 600; }
.fault { color: var(--bad); margin: .25rem 0 0; }
.help { color: var(--soft); font-size: .9rem; margin: 0 0 .25rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.trap { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
label, legend { display: block; font-weight: 600; margin: 1rem 0 .25rem; padding: 0; overflow-wrap: anywhere; }
fieldset { border: 0; margin: 1rem 0; padding: 0; min-width: 0; }
legend { margin-top: 0; }
label.alone { margin-top: 1rem; }
.option { display: flex; gap: .6rem; align-items: baseline; font-weight: 400; margin: .25rem 0; }
textarea, select, input:not([type=checkbox], [type=radio]) { width: 100%; font: inherit; padding: .6rem;
  border: 1px solid var(--line); border-radius: .4rem; background: transparent; color: inherit; }
select option { background: Canvas; color: CanvasText; }
input[aria-invalid=true], textarea[aria-invalid=true], select[aria-invalid=true] { border-color: var(--bad); }
textarea { min-height: 6rem; resize: vertical; }
.choices { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.5rem 0 1rem; }
button { flex: 1 1 10rem; min-height: 3rem; padding: .6rem 1rem; font: inherit; font-weight: 600; cursor: pointer;
  overflow-wrap: anywhere; border: 1px solid var(--line); border-radius: .4rem; background: none; color: inherit; }
button.ready { background: var(--main); border-color: var(--main); color: var(--on-main); }
:focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Runs and loads nothing; its forms can only be submitted to this origin, and lead to `target` from there. */
function policyOf(target: string | null): readonly string[] {
  return [
    `style-src 'sha256-${STYLE_HASH}'`,
    // Browsers apply this to the redirect after a submission, too.
    `form-action 'self'${target === null ? '' : ` ${target}`}`,
    "base-uri 'none'",
  ];
}

/** A whole document for people; everything foreign in it is escaped. */
export interface HostedDocument {
  readonly reader: Reader;
  readonly title: string;
  /** CSS. */
  readonly style: string;
  /** What the page may do besides nothing, as a content security policy says it. */
  readonly policy: readonly string[];
  /** HTML. */
  readonly body: string;
  /** Origins of websites that can show it in a frame; absent for none. */
  readonly frames?: readonly string[];
}

/** Sends a document that search engines don't list; caches in between must not serve it to the next reader. */
export function sendDocument(
  reply: FastifyReply,
  status: number,
  { reader, title, style, policy, body, frames = [] }: HostedDocument,
): FastifyReply {
  // The older header knows no list.
  if (frames.length > 0) reply.removeHeader('x-frame-options');
  const ancestors = frames.length === 0 ? "'none'" : frames.join(' ');
  return reply
    .code(status)
    .header(
      'content-security-policy',
      ["default-src 'none'", ...policy, `frame-ancestors ${ancestors}`].join('; '),
    )
    .header('x-robots-tag', 'noindex, nofollow')
    .header('content-language', reader.language)
    .header('vary', 'accept-language')
    .type('text/html; charset=utf-8')
    .send(`<!doctype html>
<html lang="${reader.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`);
}

/** A page as HTML; everything foreign in it is escaped. */
export interface HostedPage {
  readonly title: string;
  /** HTML. */
  readonly body: string;
  /** The origin to which its form leads in the end; absent for this one. */
  readonly target?: string;
  /** Origins of websites that can show it in a frame; absent for none. */
  readonly frames?: readonly string[];
}

/** Sends a page in the reader's language. */
export function sendPage(
  reply: FastifyReply,
  status: number,
  pageFor: (reader: Reader) => HostedPage,
): FastifyReply {
  const reader = readerOf(reply.request.headers);
  const { title, body, target = null, frames = [] } = pageFor(reader);
  return sendDocument(reply, status, {
    reader,
    title,
    style: STYLE,
    policy: policyOf(target),
    frames,
    body: `<main>\n${body}\n</main>`,
  });
}

/** A page that only says something. */
export function saying(title: string, heading: string, text: string): HostedPage {
  return {
    title,
    body: `<h1>${escapeHtml(heading)}</h1>
<p class="message">${escapeHtml(text)}</p>`,
  };
}

/** Sends a page that only says something, in the reader's language. */
export function sendNotice(
  reply: FastifyReply,
  status: number,
  heading: Message,
  text: Message,
): FastifyReply {
  return sendPage(reply, status, ({ say }) => saying(say(heading), say(heading), say(text)));
}
