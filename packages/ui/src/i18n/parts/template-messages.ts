import { loadMessages } from '../messages.ts';

// Mistakes in templates are found by the page itself, so no answer of the service announces them.
await loadMessages(['flow', 'run']);
