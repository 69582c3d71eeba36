import alerts from './ja/alerts.json';
import audit from './ja/audit.json';
import connectors from './ja/connectors.json';
import conversations from './ja/conversations.json';
import gallery from './ja/gallery.json';
import keys from './ja/keys.json';
import people from './ja/people.json';
import settings from './ja/settings.json';
import storage from './ja/storage.json';
import stored from './ja/stored.json';
import system from './ja/system.json';

/** The Japanese texts of the other pages. */
export const texts = {
  alerts,
  audit,
  connectors,
  gallery,
  keys,
  people,
  settings,
  conversations,
  storage,
  stored,
  system,
};
