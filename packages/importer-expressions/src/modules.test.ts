import { expect, it } from 'vitest';
import { withModules } from './modules.ts';

it.each([
  [
    "const crypto = require('crypto');\nreturn crypto.randomUUID();",
    'const crypto = modules.crypto;\nreturn crypto.randomUUID();',
  ],
  ["const { createHmac } = require('node:crypto');", 'const { createHmac } = modules.crypto;'],
  ["const fs = require('fs');\nreturn [];", 'const fs = ({});\nreturn [];'],
])('what code requires is read from the shim, or left out: %s', (code, made) => {
  expect(withModules(code)).toBe(made);
});

it.each([
  "const fs = require('fs');\nreturn fs.readdirSync('.');",
  "const crypto = require('crypto');\nreturn crypto.createCipheriv('aes-128-gcm', k, v);",
  'const x = require(name);',
  'this is no "code" require("crypto")',
])('code stays as it is where it needs something else: %s', (code) => {
  expect(withModules(code)).toBe(code);
});
