import { Button, Center, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { Component, type ComponentType, lazy, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../api/client.ts';
import { Muted } from './text.tsx';

/** The script of a part could not be loaded; the page around it works. */
class PartMissing extends Error {}

/**
 * A part of a page that is loaded when it is shown first. When the service cannot be reached it says so in its place:
 * the page around it, and what is written there, stays.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): (props: Props) => ReactNode {
  const Loaded = lazy(async (): Promise<{ readonly default: ComponentType<Props> }> => {
    try {
      return { default: await load() };
    } catch (error) {
      throw new PartMissing('a part of the page could not be loaded', { cause: error });
    }
  });
  return (props) => (
    <Boundary>
      <Loaded {...props} />
    </Boundary>
  );
}

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
    // Anything else is for the page's own boundary.
    throw error;
  }
}

function Missing() {
  const { t } = useTranslation();
  // A browser does not ask again for a script that it could not get; a new page does. Not while that would be lost, too.
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
