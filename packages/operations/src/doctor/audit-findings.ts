import { message } from '@millrace/messages';
import type { Finding } from './finding.ts';
import type { AuditFacts } from './store.ts';

/** Whether the audit log can be relied on. */
export function auditFindings({ changed, overdue, missing_triggers: missing }: AuditFacts): Finding[] {
  const findings: Finding[] = [];
  if (changed > 0) {
    findings.push({
      check: 'audit_log',
      level: 'error',
      what: message('doctor.audit_changed', { count: changed }),
      why: message('doctor.audit_changed_why'),
      fix: message('doctor.audit_changed_fix'),
    });
  }
  if (missing > 0) {
    findings.push({
      check: 'audit_log',
      level: 'error',
      what: message('doctor.audit_unprotected'),
      why: message('doctor.audit_unprotected_why'),
      fix: message('doctor.audit_unprotected_fix'),
    });
  }
  if (overdue > 0) {
    findings.push({
      check: 'audit_log',
      level: 'warning',
      what: message('doctor.audit_unsealed', { count: overdue }),
      why: message('doctor.audit_unsealed_why'),
      fix: message('doctor.audit_unsealed_fix'),
    });
  }
  return findings;
}
