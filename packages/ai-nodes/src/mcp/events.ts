/**
 * The data of the events in a whole stream (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation). Names
 * and ids of events don't matter here.
 */
export function eventsIn(stream: string): readonly string[] {
  const events: string[] = [];
  let data: string[] = [];
  const end = (): void => {
    if (data.length > 0) events.push(data.join('\n'));
    data = [];
  };
  for (const line of stream.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)) {
    if (line === '') end();
    else if (line.startsWith('data:')) data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    else if (line === 'data') data.push('');
  }
  // One that a server didn't end with a blank line before it closed the stream.
  end();
  return events;
}
