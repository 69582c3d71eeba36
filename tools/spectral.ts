import { readFileSync } from 'node:fs';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';

/** Checks the OpenAPI document against Spectral's built-in OpenAPI rules and fails on any finding. */
const FILE = new URL('../packages/api/openapi.json', import.meta.url);

// Both are CommonJS; Node.js only sees their default export.
const spectral = new spectralCore.Spectral();
spectral.setRuleset({ extends: [spectralRulesets.oas as RulesetDefinition] });
const found = await spectral.run(readFileSync(FILE, 'utf8'));
for (const { code, path, message } of found) console.error(`${code} /${path.join('/')}: ${message}`);
if (found.length > 0) process.exitCode = 1;
