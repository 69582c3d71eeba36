import type { Body, Events } from '@millrace/admin-api';
import type { NodeRun } from '@millrace/editor-model/editor-state.ts';
import type { EditorStore } from '@millrace/editor-model/store.ts';
import { type JsonObject, own } from '@millrace/engine';
import { call } from '@millrace/ui/api/client.ts';
import { useEvents } from '@millrace/ui/api/events.ts';
import { endpointKey, noteFailure } from '@millrace/ui/api/query.ts';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';

export type RunBody = Body<'POST /orgs/:org/workflows/:id/run'>;
type TrialExecution = Events<'GET /orgs/:org/executions/:execution/events'>['execution'];

const FINAL: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

interface TrialOptions {
  readonly org: number;
  readonly workflowId: number;
  /** Called if an execution can't be started. */
  readonly onRefused: (error: Error) => void;
}

/** An execution on the canvas, followed while it runs. */
export type Trial = ReturnType<typeof useTrial>;

/** Starts executions and shows their progress on the canvas. */
export function useTrial({ org, workflowId, onRefused }: TrialOptions, store: EditorStore) {
  const queryClient = useQueryClient();
  const [executionId, setExecutionId] = useState<number | null>(null);
  const [execution, setExecution] = useState<TrialExecution | null>(null);
  const [runs, setRuns] = useState<{ readonly [nodeId: string]: NodeRun }>({});
  const [isStarting, setIsStarting] = useState(false);
  const [isReduced, setIsReduced] = useState(false);
  const [isOwn, setIsOwn] = useState(false);
  const isFinal = execution !== null && FINAL.has(execution.status);
  const isUnderWay = executionId !== null && !isFinal;

  useEvents(
    'GET /orgs/:org/executions/:execution/events',
    { params: { org, execution: executionId ?? 0 } },
    {
      execution: (now) => {
        setExecution(now);
        if (FINAL.has(now.status)) setRuns((before) => endRuns(before, now.completed_at));
      },
      node: ({ node_id: id, ...run }) => {
        setRuns((before) => ({ ...before, [id]: run }));
      },
    },
    isUnderWay,
  );
  useEffect(() => store.getState().showRuns(runs), [store, runs]);

  /** Shows an execution that somebody else started, as if it had been started here. */
  const follow = useCallback((id: number) => {
    setRuns({});
    setExecution(null);
    setIsReduced(false);
    setIsOwn(false);
    setExecutionId(id);
  }, []);
  const starting = useRef(false);
  const start = useCallback(
    async (body: RunBody) => {
      // A double key press starts one run.
      if (starting.current) return false;
      starting.current = true;
      setIsStarting(true);
      try {
        const started = await call('POST /orgs/:org/workflows/:id/run', {
          params: { org, id: workflowId },
          body,
        });
        follow(started.execution_id);
        setIsReduced(body.only_node !== undefined);
        setIsOwn(true);
        // It is now one of the past executions.
        const key = endpointKey('GET /orgs/:org/workflows/:id/inputs', { params: { org, id: workflowId } });
        void queryClient.invalidateQueries({ queryKey: key });
        return true;
      } catch (error) {
        onRefused(error as Error);
        noteFailure(queryClient, error);
        return false;
      } finally {
        starting.current = false;
        setIsStarting(false);
      }
    },
    [org, workflowId, onRefused, queryClient, follow],
  );
  const cancel = useCallback(async () => {
    if (executionId === null) return;
    try {
      await call('POST /orgs/:org/executions/:execution/cancel', { params: { org, execution: executionId } });
    } catch (error) {
      notifyFailure(error as Error);
      noteFailure(queryClient, error);
    }
  }, [org, executionId, queryClient]);
  /** Removes the execution from the canvas. */
  const clear = useCallback(() => {
    setRuns({});
    setExecution(null);
    setExecutionId(null);
  }, []);
  return {
    /** Null: none. */
    executionId,
    /** Null until the service reports it. */
    execution,
    isUnderWay,
    isStarting,
    /** A run that was started here hasn't ended; another execution may wait for weeks, and doesn't keep anything from being run. */
    isBusy: isStarting || (isUnderWay && isOwn),
    /** It ran one node, with stand-ins for those before it. */
    isReduced,
    start,
    follow,
    cancel,
    clear,
  };
}

/** Nodes still running when the execution ended have ended with it; they send no events of their own. */
function endRuns(
  runs: { readonly [nodeId: string]: NodeRun },
  endedAt: string | null,
): { readonly [nodeId: string]: NodeRun } {
  return Object.fromEntries(
    Object.entries(runs).map(([id, run]) => {
      const isOpen = run.status === 'running' || run.status === 'waiting';
      return [id, isOpen ? { ...run, status: 'cancelled', completed_at: endedAt } : run];
    }),
  );
}

/** Known outputs that a node can read, for running it alone. */
export function outputsBefore(
  upstream: readonly string[],
  runs: { readonly [nodeId: string]: NodeRun },
): { readonly [nodeId: string]: JsonObject } {
  return Object.fromEntries(
    upstream.flatMap((id) => {
      const run = own(runs, id);
      return run?.status === 'success' && run.output !== undefined ? [[id, run.output]] : [];
    }),
  );
}
