import type { JsonObject } from '@millrace/engine';
import type { Connector } from './format.ts';
import airtable from './services/airtable.json' with { type: 'json' };
import asana from './services/asana.json' with { type: 'json' };
import discord from './services/discord.json' with { type: 'json' };
import dropbox from './services/dropbox.json' with { type: 'json' };
import elevenlabs from './services/elevenlabs.json' with { type: 'json' };
import github from './services/github.json' with { type: 'json' };
import gitlab from './services/gitlab.json' with { type: 'json' };
import gmail from './services/gmail.json' with { type: 'json' };
import googleCalendar from './services/google-calendar.json' with { type: 'json' };
import googleDocs from './services/google-docs.json' with { type: 'json' };
import googleDrive from './services/google-drive.json' with { type: 'json' };
import googleSheets from './services/google-sheets.json' with { type: 'json' };
import hubspot from './services/hubspot.json' with { type: 'json' };
import intercom from './services/intercom.json' with { type: 'json' };
import jira from './services/jira.json' with { type: 'json' };
import linear from './services/linear.json' with { type: 'json' };
import mailchimp from './services/mailchimp.json' with { type: 'json' };
import microsoftExcel from './services/microsoft-excel.json' with { type: 'json' };
import microsoftOnedrive from './services/microsoft-onedrive.json' with { type: 'json' };
import microsoftOutlook from './services/microsoft-outlook.json' with { type: 'json' };
import microsoftTeams from './services/microsoft-teams.json' with { type: 'json' };
import notion from './services/notion.json' with { type: 'json' };
import openai from './services/openai.json' with { type: 'json' };
import pinecone from './services/pinecone.json' with { type: 'json' };
import qdrant from './services/qdrant.json' with { type: 'json' };
import s3 from './services/s3.json' with { type: 'json' };
import salesforce from './services/salesforce.json' with { type: 'json' };
import sendgrid from './services/sendgrid.json' with { type: 'json' };
import shopify from './services/shopify.json' with { type: 'json' };
import slack from './services/slack.json' with { type: 'json' };
import stripe from './services/stripe.json' with { type: 'json' };
import supabase from './services/supabase.json' with { type: 'json' };
import telegram from './services/telegram.json' with { type: 'json' };
import trello from './services/trello.json' with { type: 'json' };
import twilio from './services/twilio.json' with { type: 'json' };
import whatsapp from './services/whatsapp.json' with { type: 'json' };
import woocommerce from './services/woocommerce.json' with { type: 'json' };
import zendesk from './services/zendesk.json' with { type: 'json' };

const files: readonly JsonObject[] = [
  airtable,
  s3,
  asana,
  discord,
  dropbox,
  elevenlabs,
  github,
  gitlab,
  gmail,
  googleCalendar,
  googleDocs,
  googleDrive,
  googleSheets,
  hubspot,
  intercom,
  jira,
  linear,
  mailchimp,
  microsoftExcel,
  microsoftOnedrive,
  microsoftOutlook,
  microsoftTeams,
  notion,
  openai,
  pinecone,
  qdrant,
  salesforce,
  sendgrid,
  shopify,
  slack,
  stripe,
  supabase,
  telegram,
  trello,
  twilio,
  whatsapp,
  woocommerce,
  zendesk,
];

/** Every connector, in the order the palette shows them. A test lints their files. */
export const services = files as readonly Connector[];
