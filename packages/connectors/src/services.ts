import type { Connector } from './format.ts';
import airtable from './services/airtable.json' with { type: 'json' };
import github from './services/github.json' with { type: 'json' };
import googleCalendar from './services/google-calendar.json' with { type: 'json' };
import googleDrive from './services/google-drive.json' with { type: 'json' };
import googleSheets from './services/google-sheets.json' with { type: 'json' };
import hubspot from './services/hubspot.json' with { type: 'json' };
import notion from './services/notion.json' with { type: 'json' };
import slack from './services/slack.json' with { type: 'json' };
import stripe from './services/stripe.json' with { type: 'json' };

/** Every connector, in the order the palette shows them. A test lints their files. */
export const services = [
  airtable,
  github,
  googleCalendar,
  googleDrive,
  googleSheets,
  hubspot,
  notion,
  slack,
  stripe,
] as unknown as readonly Connector[];
