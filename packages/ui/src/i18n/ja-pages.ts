import account from './ja/account.json';
import alerts from './ja/alerts.json';
import audit from './ja/audit.json';
import connectors from './ja/connectors.json';
import conversations from './ja/conversations.json';
import credentials from './ja/credentials.json';
import gallery from './ja/gallery.json';
import keys from './ja/keys.json';
import people from './ja/people.json';
import settings from './ja/settings.json';
import storage from './ja/storage.json';
import stored from './ja/stored.json';
import system from './ja/system.json';

/** The Japanese texts of the other pages. */
export const texts = {
  account,
  alerts,
  audit,
  connectors,
  credentials,
  gallery,
  keys,
  people,
  settings,
  conversations,
  storage,
  stored,
  system,
};
