import alert from './en/alert.json' with { type: 'json' };
import api from './en/api.json' with { type: 'json' };
import approval from './en/approval.json' with { type: 'json' };
import chat from './en/chat.json' with { type: 'json' };
import connectors from './en/connectors.json' with { type: 'json' };
import doctor from './en/doctor.json' with { type: 'json' };
import egress from './en/egress.json' with { type: 'json' };
import flow from './en/flow.json' with { type: 'json' };
import form from './en/form.json' with { type: 'json' };
import identity from './en/identity.json' with { type: 'json' };
import importing from './en/import.json' with { type: 'json' };
import nodes from './en/nodes.json' with { type: 'json' };
import ports from './en/ports.json' with { type: 'json' };
import run from './en/run.json' with { type: 'json' };
import secrets from './en/secrets.json' with { type: 'json' };
import service from './en/service.json' with { type: 'json' };

/** The English texts by part, which is the first word of a key. */
export const en = {
  alert,
  api,
  approval,
  chat,
  connectors,
  doctor,
  egress,
  flow,
  form,
  identity,
  import: importing,
  nodes,
  ports,
  run,
  secrets,
  service,
} as const;
