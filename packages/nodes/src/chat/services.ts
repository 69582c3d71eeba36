import type { ChatServiceName } from '@millrace/engine';
import { chatwork } from './chatwork.ts';
import { discord } from './discord.ts';
import { googleChat } from './google-chat.ts';
import { line } from './line.ts';
import { mattermost } from './mattermost.ts';
import type { ChatService } from './service.ts';
import { slack } from './slack.ts';
import { teams } from './teams.ts';
import { telegram } from './telegram.ts';

/** The adapter of each chat service. */
export const chatServices: Record<ChatServiceName, ChatService> = {
  slack,
  teams,
  discord,
  google_chat: googleChat,
  mattermost,
  telegram,
  line,
  chatwork,
};
