import { integer, text } from './variable.ts';

export const HOST_PATTERN = /^[A-Za-z0-9.:_-]{1,253}$/;

/** Metrics, and the alerts of organisations. */
export const MONITORING_VARIABLES = {
  MILLRACE_METRICS_PORT: integer({
    about:
      'Port on which this process serves /metrics for Prometheus; not served if not set. See monitoring.md',
    fallback: '',
    example: '9464',
    min: 0,
    max: 65_535,
    zero: 'any free port',
  }),
  MILLRACE_METRICS_HOST: text({
    about: 'Address on which /metrics is served. One that others can reach needs MILLRACE_METRICS_TOKEN',
    fallback: '127.0.0.1',
    example: '0.0.0.0',
    allowed: 'a host name or an IP address',
    pattern: HOST_PATTERN,
  }),
  MILLRACE_METRICS_TOKEN: text({
    about: 'Bearer token that requests for /metrics need',
    fallback: '',
    example: '$(openssl rand -base64 32)',
    allowed: 'a text of 16 to 500 characters without spaces',
    pattern: /^[\x21-\x7e]{16,500}$/,
    secret: true,
  }),
  MILLRACE_METRICS_BUSIEST: integer({
    about:
      'Organisations and workflows that /metrics tells apart: the busiest. All others are counted together',
    fallback: '20',
    example: '100',
    min: 0,
    max: 1_000,
  }),
  MILLRACE_METRICS_QUERY_S: integer({
    about: 'How often a process reads the database for /metrics, at most',
    fallback: '10',
    example: '60',
    min: 1,
    max: 60,
    unit: 'seconds',
  }),
  MILLRACE_ALERT_RULES: integer({
    about: 'Alert rules that one organisation may have',
    fallback: '50',
    example: '200',
    min: 0,
    max: 1_000,
  }),
  MILLRACE_ALERTS_PER_HOUR: integer({
    about: 'Alerts that one organisation gets in an hour; anything beyond that is reported in later ones',
    fallback: '60',
    example: '20',
    min: 1,
    max: 10_000,
  }),
};
