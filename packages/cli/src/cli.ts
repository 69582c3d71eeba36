import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Stripping types and compiling is most of a command's time, so what came of it is kept. Not in the folder for all
// users' temporary files, which is Node's choice: whoever makes it there first decides what runs. Where it cannot be
// written to, nothing is kept.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/millrace', import.meta.url)));
await import('./main.ts');
