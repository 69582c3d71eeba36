import { Button, Center, Skeleton, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { Component, type ComponentType, lazy, type ReactNode, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { loadNow } from './load-in-reserve.ts';
import { Muted } from './text.tsx';

/** The chunk failed to load; the page around it still works. */
class PartMissing extends Error {}

/**
 * A component loaded on first use. If the service is unreachable, an error is shown in its place, and the rest of the
 * page with its input is kept.
 * @param fallback shown while it loads
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  fallback: (props: Props) => ReactNode = () => null,
): (props: Props) => ReactNode {
  const Loaded = lazy(async (): Promise<{ readonly default: ComponentType<Props> }> => {
    try {
      return { default: await loadNow(load) };
    } catch (error) {
      throw new PartMissing('a part of the page could not be loaded', { cause: error });
    }
  });
  return (props) => (
    <Boundary>
      <Suspense fallback={fallback(props)}>
        <Loaded {...props} />
      </Suspense>
    </Boundary>
  );
}

/** A fallback as large as the frame around the part. */
export const fillingSkeleton = () => <Skeleton h="100%" />;

interface BoundaryProps {
  children: ReactNode;
}

class Boundary extends Component<BoundaryProps, { readonly error: unknown }> {
  override readonly state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    if (error instanceof PartMissing) return <Missing />;
    // Other errors are for the page's error boundary.
    throw error;
  }
}

function Missing() {
  const { t } = useTranslation();
  // Browsers don't refetch a failed module without a reload. Reload only once the service responds, or the page is lost too.
  const reload = useMutation({
    mutationFn: () => call('GET /state'),
    networkMode: 'always',
    onSuccess: () => window.location.reload(),
  });
  return (
    <Center h="100%" p="md" role="alert">
      <Stack align="center" gap="xs" maw={360}>
        <Muted ta="center">{t('common.partMissing')}</Muted>
        <Button
          variant="default"
          leftSection={<RotateCw size={14} />}
          loading={reload.isPending}
          onClick={() => reload.mutate()}
        >
          {t('common.reload')}
        </Button>
      </Stack>
    </Center>
  );
}
