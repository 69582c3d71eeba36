import alert from './ja/alert.json' with { type: 'json' };
import api from './ja/api.json' with { type: 'json' };
import approval from './ja/approval.json' with { type: 'json' };
import chat from './ja/chat.json' with { type: 'json' };
import connectors from './ja/connectors.json' with { type: 'json' };
import doctor from './ja/doctor.json' with { type: 'json' };
import egress from './ja/egress.json' with { type: 'json' };
import flow from './ja/flow.json' with { type: 'json' };
import form from './ja/form.json' with { type: 'json' };
import identity from './ja/identity.json' with { type: 'json' };
import importing from './ja/import.json' with { type: 'json' };
import nodes from './ja/nodes.json' with { type: 'json' };
import ports from './ja/ports.json' with { type: 'json' };
import run from './ja/run.json' with { type: 'json' };
import secrets from './ja/secrets.json' with { type: 'json' };
import service from './ja/service.json' with { type: 'json' };

/** The Japanese texts by part, which is the first word of a key. */
export const ja = {
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
