import { ROLES, SCOPES } from '@millrace/admin-api';
import { describe, expect, it } from 'vitest';
import { effectiveScopes, type Issuer } from './roles.ts';

const READING = ['workflows:read', 'executions:read'];

describe('effectiveScopes', () => {
  it.each<[Issuer, readonly string[]]>([
    ['viewer', READING],
    ['editor', SCOPES],
    ['org_admin', SCOPES],
    ['system_admin', SCOPES],
    ['operator', SCOPES],
    ['removed', []],
  ])('cuts all scopes to what %s allows', (issuer, allowed) => {
    expect([...effectiveScopes(SCOPES, issuer)].sort()).toEqual([...allowed].sort());
  });

  it('never adds a scope', () => {
    for (const issuer of [...ROLES, 'operator', 'removed'] as const) {
      for (const scope of SCOPES) {
        expect([[], [scope]]).toContainEqual(effectiveScopes([scope], issuer));
      }
    }
  });
});
