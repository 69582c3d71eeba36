import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Stripping types and compiling take most of a command's time, so the result is cached. Not in the shared temporary folder, which is Node's
// default: whoever creates it there first decides what runs. If the folder isn't writable, nothing is cached.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/millrace', import.meta.url)));
await import('./main.ts');
