import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { Me } from '@millrace/admin-api';
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
import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChooseLanguage } from '../account-language.ts';
import { ADMINISTRATION_ITEMS, WORK_ITEMS } from '../navigation-items.ts';
import { useSignOut } from '../sign-out.ts';

const SCHEMES = ['light', 'dark', 'auto'] as const;
const NOTHING: readonly Command[] = [];

/** The commands that fit a search, best first; for an empty one, what was open last comes first. */
export function useCommands(
  search: string,
  { onNewWorkflow }: { onNewWorkflow: () => void },
): { readonly commands: readonly Command[]; readonly isSearching: boolean } {
  const recent = useRecentCommands();
  const ofParts = useCommandsOfParts();
  const pages = usePageCommands();
  const actions = useActionCommands(onNewWorkflow);
  const found = useFoundCommands(search, recent);
  const { guides, searchGuides } = useDocumentationCommands(search);
  const isEmpty = search.trim() === '';
  // Where several fit equally well, this order counts.
  const known = [...recent, ...ofParts, ...found.workflows, ...actions, ...pages, ...guides];
  const ranked = findRanked(known, search, (each) => each);
  if (isEmpty) {
    // All nodes of a large workflow would hide everything else.
    return { commands: ranked.filter(({ group }) => group !== 'nodes'), isSearching: false };
  }
  // What the service found by a description or a tag.
  const others = found.workflows.filter((each) => !ranked.includes(each));
  return { commands: [...found.exact, ...ranked, ...others, searchGuides], isSearching: found.isSearching };
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
const MOST_FOUND = 8;
const NUMBER = /^#?([1-9]\d{0,14})$/;

/** Workflows that the service finds, and the execution or workflow of a number. */
function useFoundCommands(search: string, recent: readonly Command[]) {
  const { t } = useTranslation();
  const org = useOrg();
  const navigate = useNavigate();
  const [text] = useDebouncedValue(search.trim(), TYPING_PAUSE_MS);
  const list = useQuery({
    ...endpointQuery('GET /orgs/:org/workflows', {
      params: { org },
      query: { search: text, limit: MOST_FOUND, sort: 'last_run' },
    }),
    enabled: text !== '',
    placeholderData: keepPreviousData,
  });
  const number = Number(NUMBER.exec(text)?.[1] ?? 0);
  const execution = useQuery({
    ...endpointQuery('GET /orgs/:org/executions/:execution', { params: { org, execution: number } }),
    enabled: number > 0,
    retry: false,
  });
  const workflow = useQuery({
    ...endpointQuery('GET /orgs/:org/workflows/:id', { params: { org, id: number } }),
    enabled: number > 0,
    retry: false,
  });
  const commands = useMemo(() => {
    const known = new Set(recent.map(({ id }) => id));
    const ofWorkflow = (id: number, title: string): Command => ({
      id: `workflow-${id}`,
      group: 'workflows',
      title,
      hint: t('commands.kind.workflow', { id }),
      icon: Workflow,
      run: () => void navigate({ to: `/o/${org}/workflows/${id}` }),
    });
    const exact: Command[] = [];
    if (number > 0 && execution.data !== undefined) {
      exact.push({
        id: `found-execution-${number}`,
        group: 'executions',
        title: execution.data.execution.display_name,
        hint: t('commands.kind.execution', { id: number }),
        icon: Activity,
        run: () => void navigate({ to: `/o/${org}/executions/${number}` }),
      });
    }
    if (number > 0 && workflow.data !== undefined) exact.push(ofWorkflow(number, workflow.data.name));
    const taken = new Set([...known, ...exact.map(({ id }) => id)]);
    const found = text === '' ? [] : (list.data?.items ?? []);
    return {
      exact,
      workflows: found.map(({ id, name }) => ofWorkflow(id, name)).filter(({ id }) => !taken.has(id)),
    };
  }, [recent, number, execution.data, workflow.data, list.data, text, t, navigate, org]);
  const isWaiting = search.trim() !== text;
  return { ...commands, isSearching: isWaiting || list.isFetching || execution.isFetching };
}
