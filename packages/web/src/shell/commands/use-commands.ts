import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { Me } from '@millrace/admin-api';
import { ApiProblem } from '@millrace/ui/api/client.ts';
import { useMe, useOrg, useRole } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { type Command, readCommandSources } from '@millrace/ui/commands/commands.ts';
import { readRecent } from '@millrace/ui/commands/recent.ts';
import { LANGUAGES, type Language } from '@millrace/ui/i18n/index.ts';
import { findRanked } from '@millrace/ui/search/find-ranked.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import {
  Activity,
  BookOpen,
  CircleUser,
  Code,
  Languages,
  LogOut,
  Plus,
  Star,
  SunMoon,
  Workflow,
} from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChooseLanguage } from '../account-language.ts';
import { ADMINISTRATION_ITEMS, WORK_ITEMS } from '../navigation-items.ts';
import { useSignOut } from '../sign-out.ts';

const SCHEMES = ['light', 'dark', 'auto'] as const;
const NOTHING: readonly Command[] = [];

/** Of each group. Whoever looks for something else types more of it. */
const MAX_PER_GROUP = 20;

interface FoundCommands {
  readonly commands: readonly Command[];
  /** The service hasn't answered yet. */
  readonly isSearching: boolean;
  /** The service couldn't be asked. */
  readonly hasFailed: boolean;
  /** What is offered for any search. */
  readonly fallback: Command;
}

/** The commands that fit a search, best first; for an empty one, what was open last comes first. */
export function useCommands(search: string, { onNewWorkflow }: { onNewWorkflow: () => void }): FoundCommands {
  const recent = useRecentCommands();
  const ofParts = useCommandsOfParts();
  const pages = usePageCommands();
  const actions = useActionCommands(onNewWorkflow);
  const { exact, workflows, isOutdated, ...state } = useFoundCommands(search);
  const { guides, searchGuides } = useDocumentationCommands(search);
  const found = { ...state, fallback: searchGuides };
  // Where several fit equally well, this order counts.
  const known = withoutTwins([...recent, ...ofParts, ...workflows, ...actions, ...pages, ...guides]);
  const ranked = findRanked(known, search, (each) => each);
  if (search.trim() === '') {
    // All nodes of a large workflow would hide everything else.
    return { ...found, commands: firstOfGroups(ranked.filter(({ group }) => group !== 'nodes')) };
  }
  // What the service found by a description or a tag comes last.
  const all = withoutTwins([...exact, ...ranked, ...(isOutdated ? [] : workflows)]);
  return { ...found, commands: [...firstOfGroups(all), searchGuides] };
}

/** The first of those that lead to the same. */
function withoutTwins(commands: readonly Command[]): readonly Command[] {
  const ids = new Set<string>();
  return commands.filter(({ id }) => !ids.has(id) && ids.add(id));
}

function firstOfGroups(commands: readonly Command[]): readonly Command[] {
  const counts = new Map<string, number>();
  return commands.filter(({ group }) => {
    const count = (counts.get(group) ?? 0) + 1;
    counts.set(group, count);
    return count <= MAX_PER_GROUP;
  });
}

/** Workflows and executions opened in this browser. */
function useRecentCommands(): readonly Command[] {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const userId = useMe()?.user.id ?? 0;
  const [items] = useState(() => readRecent({ userId, org }));
  return items.map(({ kind, id, title }) => ({
    id: `${kind}-${id}`,
    group: 'recent',
    title,
    hint: t(`commands.kind.${kind}`, { id }),
    synonyms: [String(id)],
    icon: kind === 'workflow' ? Workflow : Activity,
    run: () => void navigate({ to: `/o/${org}/${kind}s/${id}` }),
  }));
}

/** What the shown page offers, such as the nodes of the open workflow. */
function useCommandsOfParts(): readonly Command[] {
  const [commands, setCommands] = useState(NOTHING);
  useEffect(() => {
    let isGone = false;
    void readCommandSources().then((read) => {
      if (!isGone) setCommands(read);
    });
    return () => {
      isGone = true;
    };
  }, []);
  return commands;
}

function usePageCommands(): readonly Command[] {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const { can } = useRole();
  const organisations: Me['organisations'] = useMe()?.organisations ?? [];
  const go = (to: string) => () => void navigate({ to });
  return [
    ...[...WORK_ITEMS, ...ADMINISTRATION_ITEMS]
      .filter(({ needs }) => can(needs))
      .map(
        ({ name, path, icon }): Command => ({
          id: `page-${name}`,
          group: 'pages',
          title: t(`shell.place.${name}`),
          icon,
          run: go(`/o/${org}/${path}`),
        }),
      ),
    {
      id: 'page-favourites',
      group: 'pages',
      title: t('commands.favourites'),
      icon: Star,
      run: () =>
        void navigate({
          to: '/o/$org/workflows',
          params: { org: String(org) },
          search: { favourites: true },
        }),
    },
    { id: 'page-account', group: 'pages', title: t('shell.account'), icon: CircleUser, run: go('/account') },
    ...organisations
      .filter(({ id }) => id !== org)
      .map(
        ({ id, name }): Command => ({
          id: `organisation-${id}`,
          group: 'pages',
          title: name,
          hint: t('commands.organisation'),
          icon: CircleUser,
          run: go(`/o/${id}/workflows`),
        }),
      ),
  ];
}

function useActionCommands(onNewWorkflow: () => void): readonly Command[] {
  const { t, i18n } = useTranslation();
  const { can } = useRole();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const chooseLanguage = useChooseLanguage();
  const signOut = useSignOut();
  const create: Command = {
    id: 'new-workflow',
    group: 'actions',
    title: t('commands.newWorkflow'),
    icon: Plus,
    run: onNewWorkflow,
  };
  return [
    ...(can('editor') ? [create] : []),
    ...SCHEMES.filter((scheme) => scheme !== colorScheme).map(
      (scheme): Command => ({
        id: `scheme-${scheme}`,
        group: 'actions',
        title: t('commands.scheme', { scheme: t(`shell.scheme.${scheme}`) }),
        synonyms: ['theme', 'dark mode', 'テーマ'],
        icon: SunMoon,
        run: () => setColorScheme(scheme),
      }),
    ),
    ...Object.entries(LANGUAGES)
      .filter(([id]) => id !== i18n.language)
      .map(
        ([id, name]): Command => ({
          id: `language-${id}`,
          group: 'actions',
          title: t('commands.language', { name }),
          synonyms: ['language', '言語'],
          icon: Languages,
          run: () => void chooseLanguage(id as Language),
        }),
      ),
    {
      id: 'sign-out',
      group: 'actions',
      title: t('shell.signOut'),
      synonyms: ['log out', 'ログアウト'],
      icon: LogOut,
      run: () => signOut.mutate(),
    },
  ];
}

/** The guides open beside what somebody is working on; whatever is typed can be looked up there. */
function useDocumentationCommands(search: string): {
  readonly guides: readonly Command[];
  readonly searchGuides: Command;
} {
  const { t } = useTranslation();
  const text = search.trim();
  const open = (address: string) => () => void window.open(address, '_blank', 'noopener');
  return {
    guides: [
      {
        id: 'guides',
        group: 'documentation',
        title: t('commands.guides'),
        synonyms: ['docs', 'help', 'manual', 'ヘルプ'],
        icon: BookOpen,
        run: open('/docs/guides'),
      },
      {
        id: 'api',
        group: 'documentation',
        title: t('commands.apiReference'),
        synonyms: ['docs', 'openapi', 'rest'],
        icon: Code,
        run: open('/docs'),
      },
    ],
    searchGuides: {
      id: 'guides-search',
      group: 'documentation',
      title: t('commands.searchGuides', { search: text }),
      icon: BookOpen,
      run: open(`/docs/guides?q=${encodeURIComponent(text)}`),
    },
  };
}

const TYPING_PAUSE_MS = 200;
const MAX_FOUND = 8;
const NUMBER = /^#?([1-9]\d{0,14})$/;

/** Workflows that the service finds, and the execution or workflow of a number. */
function useFoundCommands(search: string) {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const typed = search.trim().normalize('NFKC');
  const [text] = useDebouncedValue(typed, TYPING_PAUSE_MS);
  const list = useQuery({
    ...endpointQuery('GET /orgs/:org/workflows', {
      params: { org },
      query: { search: text, limit: MAX_FOUND, sort: 'last_run' },
    }),
    enabled: text !== '',
    placeholderData: keepPreviousData,
  });
  const number = Number(NUMBER.exec(text)?.[1] ?? 0);
  const execution = useQuery({
    ...endpointQuery('GET /orgs/:org/executions/:execution', { params: { org, execution: number } }),
    enabled: number > 0,
  });
  const workflow = useQuery({
    ...endpointQuery('GET /orgs/:org/workflows/:id', { params: { org, id: number } }),
    enabled: number > 0,
  });
  const queries = [list, execution, workflow];
  const commandOf = (kind: 'workflow' | 'execution', id: number, title: string): Command => ({
    id: `${kind}-${id}`,
    group: `${kind}s`,
    title,
    hint: t(`commands.kind.${kind}`, { id }),
    icon: kind === 'workflow' ? Workflow : Activity,
    run: () => void navigate({ to: `/o/${org}/${kind}s/${id}` }),
  });
  return {
    exact: [
      ...(execution.data === undefined
        ? []
        : [commandOf('execution', number, execution.data.execution.display_name)]),
      ...(workflow.data === undefined ? [] : [commandOf('workflow', number, workflow.data.name)]),
    ],
    workflows: (list.data?.items ?? []).map(({ id, name }) => commandOf('workflow', id, name)),
    isOutdated: list.isPlaceholderData,
    isSearching: typed !== '' && (typed !== text || queries.some(({ isFetching }) => isFetching)),
    hasFailed: queries.some(({ error }) => error !== null && !isMissing(error)),
  };
}

/** Nothing has this number, or what has it isn't to be seen. */
function isMissing(error: Error): boolean {
  return error instanceof ApiProblem && error.status === 404;
}
