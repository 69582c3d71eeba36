import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/**
 * The headers that every answer carries, as helmet sets them. They are the same for all answers, and making them anew
 * for each cost a sixteenth of the processor time of a start; so helmet is asked once.
 * @param publicUrl by https: browsers are told to come by nothing else
 */
export function securityHeaders(publicUrl: string): Readonly<Record<string, string>> {
  const setHeaders = helmet({
    // Answers are data: nothing in them may be run, framed or loaded by a browser. Pages set their own policy.
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
      },
    },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    referrerPolicy: { policy: 'no-referrer' },
    // Subdomains and preloading are for whoever owns the domain to decide.
    strictTransportSecurity: publicUrl.startsWith('https:') ? { includeSubDomains: false } : false,
    xFrameOptions: { action: 'deny' },
  });
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  let failure: unknown = null;
  setHeaders(request, response, (error) => {
    failure = error ?? null;
  });
  if (failure !== null) throw failure;
  return Object.fromEntries(
    Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]),
  );
}
