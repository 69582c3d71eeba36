import type { Flow, JsonObject } from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import { configOf, n8n, outcomeOf, read, type Sketch } from './testing.ts';

describe('a feed that is polled', () => {
  const sketch = (parameters: JsonObject): Sketch => ({ type: 'rssFeedReadTrigger', version: 1, parameters });
  const text = '={{ $json.link }} {{ $json.isoDate }} {{ $json.other }}';
  const imported = (parameters: JsonObject) =>
    read(
      n8n(
        {
          Feed: sketch(parameters),
          Here: {
            type: 'set',
            version: 3.4,
            parameters: { assignments: { assignments: [{ name: 'x', type: 'string', value: text }] } },
          },
        },
        [['Feed', 'Here']],
      ),
    );

  it('is polled at the same interval, and its items are read by their own names', () => {
    const result = imported({
      feedUrl: 'https://tea.example.com/feed',
      pollTimes: { item: [{ mode: 'everyX', value: 15, unit: 'minutes' }] },
    });
    expect(configOf(result, 'Feed')).toEqual({ url: 'https://tea.example.com/feed', interval_s: 900 });
    expect(configOf(result, 'Here')?.values).toEqual({
      x: '{{trigger.data.url}} {{trigger.data.published_at}} {{trigger.data.other}}',
    });
    expect(outcomeOf(result, 'Feed')?.kind).toBe('mapped');
  });

  it('says what has to be looked at: set times, and an address that is an expression', () => {
    const result = imported({ feedUrl: '={{ $vars.feed }}', pollTimes: { item: [{ mode: 'everyDay' }] } });
    expect(configOf(result, 'Feed')).toEqual({ url: '', interval_s: 86_400 });
    expect(outcomeOf(result, 'Feed')?.kind).toBe('approximated');
  });
});

describe('a service that is polled', () => {
  const sheet = { __rl: true, mode: 'list', value: 12, cachedResultName: 'Orders' };
  it.each<[string, string, JsonObject, string, JsonObject, string]>([
    [
      'mail',
      'gmailTrigger',
      {
        filters: { q: 'subject:order', readStatus: 'unread', sender: 'ada@example.com', labelIds: ['INBOX'] },
      },
      'trigger.gmail.new_message',
      { query: 'subject:order is:unread from:ada@example.com', label_ids: ['INBOX'] },
      'approximated',
    ],
    [
      'rows',
      'googleSheetsTrigger',
      { event: 'rowAdded', documentId: { __rl: true, mode: 'id', value: 's1' }, sheetName: sheet },
      'trigger.google_sheets.new_row',
      { spreadsheet_id: 's1', sheet: 'Orders' },
      'approximated',
    ],
    [
      'files',
      'googleDriveTrigger',
      { event: 'fileUpdated', triggerOn: 'specificFolder', folderToWatch: { mode: 'id', value: 'd1' } },
      'trigger.google_drive.changed_file',
      { folder_id: 'd1' },
      'approximated',
    ],
    [
      'records',
      'airtableTrigger',
      {
        baseId: { mode: 'id', value: 'app1' },
        tableId: { mode: 'id', value: 'Orders' },
        triggerField: 'Created',
      },
      'trigger.airtable.new_record',
      { base_id: 'app1', table: 'Orders' },
      'approximated',
    ],
    [
      'events',
      'googleCalendarTrigger',
      { calendarId: { mode: 'list', value: 'primary' }, triggerOn: 'eventStarted' },
      'trigger.google_calendar.event_started',
      { calendar_id: 'primary' },
      'approximated',
    ],
    [
      'pages',
      'notionTrigger',
      { event: 'pageAddedToDatabase', databaseId: { mode: 'list', value: 'd1' }, simple: false },
      'trigger.notion.new_page',
      { database_id: 'd1' },
      'approximated',
    ],
  ])('%s become the trigger of the service', (_, kind, parameters, type, config, outcome) => {
    const pollTimes = { item: [{ mode: 'everyX', value: 5, unit: 'minutes' }] };
    const result = read(
      n8n(
        {
          Watch: { type: kind, version: 1, parameters: { ...parameters, pollTimes } },
          Here: {
            type: 'set',
            version: 3.4,
            parameters: {
              assignments: { assignments: [{ name: 'x', type: 'string', value: '={{ $json.id }}' }] },
            },
          },
        },
        [['Watch', 'Here']],
      ),
    );
    const { nodes } = (result.workflow?.flow_data ?? { nodes: [] }) as unknown as Flow;
    expect(nodes.map((node) => node.type)).toEqual([type, 'core.set']);
    expect(configOf(result, 'Watch')).toEqual({ credential_id: 0, ...config, interval_s: 300 });
    expect(configOf(result, 'Here')?.values).toEqual({ x: '{{trigger.data.id}}' });
    expect(outcomeOf(result, 'Watch')?.kind).toBe(outcome);
  });

  it('rows that are changed are read by a schedule, as no trigger finds them', () => {
    const parameters = { event: 'rowUpdate', documentId: { value: 's1' }, sheetName: sheet };
    const result = read(n8n({ Watch: { type: 'googleSheetsTrigger', version: 1, parameters } }, []));
    const { nodes } = (result.workflow?.flow_data ?? { nodes: [] }) as unknown as Flow;
    expect(nodes[0]?.type).toBe('trigger.schedule');
  });
});
