import type { JsonObject } from '@millrace/engine';
import { message } from '@millrace/messages';
import { escapeMarkdown } from './mentions.ts';
import { isOk, memberText, plainReason, refusedByStatus, sent } from './outcome.ts';
import type { ChatMessage, ChatService } from './service.ts';

const LABEL = 'Microsoft Teams';
const STYLE = { info: 'accent', success: 'good', warning: 'warning', error: 'attention' };

/**
 * Microsoft Teams: a workflow that starts "When a Teams webhook request is received" ("Create incoming webhooks with Workflows for
 * Microsoft Teams"). It accepts a message with Adaptive Cards and returns 202 without a body; the older connectors return 200.
 */
export const teams: ChatService = {
  name: 'teams',
  label: LABEL,
  needs: message('nodes.cred_teams'),
  hasThreads: false,
  // "Microsoft Teams connector", known issues and limitations: about 28 KB, everything included.
  maxBytes: 28_000,
  webhook: {
    hosts: [
      '.logic.azure.com',
      '.api.powerplatform.com',
      '.webhook.office.com',
      '.logic.azure.us',
      '.api.gov.powerplatform.microsoft.us',
    ],
    post(chat) {
      const contentType = 'application/vnd.microsoft.card.adaptive';
      const card = { contentType, contentUrl: null, content: cardOf(chat) };
      return { body: { type: 'message', attachments: [card] } };
    },
  },
  read(answer) {
    if (!isOk(answer)) {
      const reason = memberText(answer.body, 'error', 'code') || plainReason(answer);
      return refusedByStatus(answer, reason);
    }
    // Older connectors hide errors in the text of a response with status 200.
    const hidden = /HTTP error (\d{3})/.exec(plainReason(answer))?.[1];
    if (hidden === undefined) return sent();
    return refusedByStatus({ ...answer, response: { ...answer.response, status: Number(hidden) } }, '');
  },
};

/** Mentions require separate entities besides the text, so text alone mentions nobody. */
function cardOf({ title, text, fields, link, color }: ChatMessage): JsonObject {
  const block = (content: string, look: JsonObject = {}): JsonObject => ({
    type: 'TextBlock',
    text: escapeMarkdown(content).replaceAll('\n', '\n\n'),
    wrap: true,
    ...look,
  });
  const items = [
    ...(title === null ? [] : [block(title, { size: 'Large', weight: 'Bolder' })]),
    ...(text === '' ? [] : [block(text)]),
    ...(fields.length === 0
      ? []
      : [
          {
            type: 'FactSet',
            facts: fields.map(({ label, value }) => ({
              title: escapeMarkdown(label),
              value: escapeMarkdown(value),
            })),
          },
        ]),
  ];
  return {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body: color === null ? items : [{ type: 'Container', style: STYLE[color], bleed: true, items }],
    ...(link === null ? {} : { actions: [{ type: 'Action.OpenUrl', title: link.text, url: link.url }] }),
  };
}
