import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import '@millrace/ui/components/global.css';
import '@millrace/ui/components/forced-colors.css';
import { MantineProvider } from '@mantine/core';
import { createQueryClient, endpointKey } from '@millrace/ui/api/query.ts';
import { watchUserActivity } from '@millrace/ui/api/user-activity.ts';
import { styleNonce } from '@millrace/ui/components/nonce.ts';
import { languageReady } from '@millrace/ui/i18n/index.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createAppRouter } from './router.tsx';
import { cssVariables, theme } from './theme.ts';
import { Toasts } from './toasts.tsx';

// The style sheet that locks scrolling behind dialogs needs the nonce too.
setNonce(styleNonce());

const queryClient = createQueryClient(() => {
  const { pathname, href } = router.state.location;
  if (pathname === '/sign-in' || pathname === '/setup' || pathname === '/invitation') return;
  // Users who were never signed in here go to the sign-in page without an explanation.
  const wasSignedIn = queryClient.getQueryData(endpointKey('GET /me')) !== undefined;
  queryClient.clear();
  void router.navigate({ to: '/sign-in', search: { next: href, ...(wasSignedIn ? { ended: true } : {}) } });
});
const router = createAppRouter(queryClient);

watchUserActivity(window);

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element "root"');
await languageReady;
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <QueryClientProvider client={queryClient}>
        <Toasts />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
