import type { Database } from '@millrace/database/database';
import type { Egress } from '@millrace/egress/egress';
import type { Files } from '@millrace/files/files';
import type { HttpSettings, RequestLimits } from '@millrace/http/settings';
import type { ExecutionNotifier } from '@millrace/runtime/notifier';
import type { PlanCache } from '@millrace/runtime/plans';
import type { NodeLimits } from '@millrace/runtime/settings';
import type { OpenSecret } from '@millrace/service/webhooks/secrets';

/** What the routes behind public addresses are built from. */
export interface AddressDeps {
  readonly config: Pick<HttpSettings, 'publicUrl'> & { readonly limits: RequestLimits & NodeLimits };
  readonly db: Database;
  readonly plans: PlanCache;
  readonly notifier: ExecutionNotifier;
  readonly files: Files;
  /** For the keys that calls are checked with, if a webhook's settings give their address. */
  readonly egress: Egress;
  /** Decrypts the secrets that signatures of webhooks are checked with. */
  readonly openSecret: OpenSecret;
}
